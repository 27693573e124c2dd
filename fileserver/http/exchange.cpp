#include "fileserver/http/exchange.h"

#include <string.h>

#include <span>

#include "fileserver/http/page.h"
#include "http/syntax.h"
#include "serve/answer.h"

namespace fileserver {

namespace {

constexpr std::string_view kPlainText = "text/plain; charset=utf-8";

http::Status status_of(base::ErrorCode code) {
  switch (code) {
    case base::ErrorCode::kSyntax: return 400;
    case base::ErrorCode::kTooLong: return 413;
    case base::ErrorCode::kInvalid: return 422;
    case base::ErrorCode::kDenied: return 401;
    case base::ErrorCode::kExists: return 409;
    case base::ErrorCode::kNotFound: return 404;
    case base::ErrorCode::kUnavailable:
    case base::ErrorCode::kBusy: return 503;
    case base::ErrorCode::kInternal: return 500;
  }
  return 500;
}

}  // namespace

Exchange::Exchange(const http::RequestHead& head, serve::HttpConversation& connection)
    : head_(head),
      connection_(connection),
      method_(head.method()),
      shows_sign_in_(!head.has(http::Field::kAuthorization) && accepts_page(head)) {
  const std::string_view path = head.path();
  std::span<char> decoded = short_path_;
  if (path.size() > decoded.size()) {
    long_path_.resize(path.size());
    decoded = long_path_;
  }
  path_ = http::decode_path(path, decoded);
}

void Exchange::aim_at(std::string name, bool ends_with_slash) {
  long_path_ = std::move(name);
  path_ = http::Path{long_path_, ends_with_slash};
}

http::AnswerHead Exchange::begin(http::Status status) {
  status_ = status;
  std::span<char> buffer = answer_;
  if (!further_fields.empty()) {
    std::size_t size = answer_.size();
    for (const auto& [name, value] : further_fields) size += name.size() + value.size() + 4;
    long_answer_.resize(size);
    buffer = long_answer_;
  }
  http::AnswerHead head = connection_.begin_answer(buffer, status);
  head.field("Cross-Origin-Resource-Policy", "same-origin");
  for (const auto& [name, value] : further_fields) head.field(name, value);
  return head;
}

void Exchange::send_text(http::AnswerHead& head, std::string_view type, std::string_view text) {
  head.field("Content-Type", type)
      .field("Content-Length", text.size())
      .field("X-Content-Type-Options", "nosniff");
  connection_.send(head.finish(), method_ == http::Method::kHead ? std::string_view() : text);
}

void Exchange::answer(http::Status status) {
  http::AnswerHead head = begin(status);
  if (status == 401) {
    if (!shows_sign_in_)
      head.field("WWW-Authenticate", "Basic realm=\"turnstile\", charset=\"UTF-8\"");
    head.field("Cache-Control", "no-store");
  }
  // By then one new account is forgiven, or one wrong password.
  if (status == 429) head.field("Retry-After", verb == telemetry::Verb::kNew ? "60" : "6");
  if (status == 503) head.field("Retry-After", "1");
  // The head of the request is still there, because nothing reads the body of a GET.
  const bool reads = method_ == http::Method::kGet || method_ == http::Method::kHead;
  const bool signs_in = status == 401 && shows_sign_in_ && reads;
  std::string page;
  if (signs_in) {
    page = sign_in_page();
  } else if (reads && preferred_form(head_) == Preferred::kPage) {
    page = answer_page(status);
  }
  if (page.empty()) return send_text(head, kPlainText, std::string(status.reason()) + "\n");
  head.field("Vary", "Accept")
      .field("Content-Security-Policy", signs_in ? kScriptedPagePolicy : kPagePolicy);
  send_text(head, "text/html; charset=utf-8", page);
}

void Exchange::answer_not_allowed(std::string_view allowed) {
  http::AnswerHead head = begin(405);
  head.field("Allow", allowed);
  send_text(head, kPlainText, "Method Not Allowed\n");
}

void Exchange::answer(const base::Error& error) {
  serve::log_failure(error);
  answer(status_of(error.code));
}

// A body that ended early is a syntax error for the client, which is not there any more.
telemetry::Ending Exchange::ending() const {
  const bool may_be_cut = !outcome() || outcome() == base::ErrorCode::kSyntax;
  return may_be_cut && connection_.stream().is_over() ? telemetry::Ending::kCut
                                                      : telemetry::Ending::kAnswered;
}

void Exchange::fail() {
  if (connection_.has_begun_answer()) {
    status_ = http::Status(500);  // the client sees an answer that is cut
    stream().abort();
  } else {
    answer(500);
  }
}

RequestCredentials::RequestCredentials(const http::RequestHead& head) {
  if (!head.has(http::Field::kAuthorization)) take_cookies(head);
  const auto basic = http::parse_basic(head.value(http::Field::kAuthorization), bytes_);
  if (!basic) return;
  const wire::Credentials account{basic->user, basic->password};
  if (!wire::refusal_of(account)) account_ = account;
}

void RequestCredentials::take_cookies(const http::RequestHead& head) {
  int count = 0;
  head.each(http::Field::kCookie, [&](std::string_view pairs) {
    while (!pairs.empty()) {
      const std::size_t end = pairs.find(';');
      const std::string_view pair = http::trimmed(pairs.substr(0, end));
      pairs = end == std::string_view::npos ? std::string_view() : pairs.substr(end + 1);
      const std::size_t equals = pair.find('=');
      if (equals == std::string_view::npos || pair.substr(0, equals) != kCookieName) continue;
      ++count;
      token_ = pair.substr(equals + 1);
    }
  });
  if (count != 1 || !wire::is_token(token_)) token_ = {};
}

RequestCredentials::~RequestCredentials() { ::explicit_bzero(bytes_.data(), bytes_.size()); }

}  // namespace fileserver
