#include "fileserver/http/session.h"

#include <string>
#include <utility>

#include "base/completes.h"
#include "fileserver/http/exchange.h"
#include "fileserver/http/exchange_lines.h"
#include "fileserver/http/guests.h"
#include "fileserver/http/methods.h"
#include "fileserver/http/permitted.h"
#include "fileserver/http/server_paths.h"
#include "fileserver/http/upload_parts.h"
#include "fileserver/http/validated.h"
#include "fileserver/parts.h"
#include "serve/answer.h"

namespace fileserver {

namespace {

using http::Method;
using telemetry::Verb;

bool may_change(Method method) {
  return method != Method::kGet && method != Method::kHead && method != Method::kPropfind;
}

// Whether this changes something by a cookie, and a page of another site may have sent it.
bool may_be_forged(const Exchange& exchange, const RequestCredentials& credentials) {
  return !credentials.token().empty() && may_change(exchange.method()) &&
         !is_from_our_site(exchange.head());
}

// Explorer mounts nothing without MS-Author-Via.
void answer_options(Exchange& exchange, const Parts& parts, const ServerPath* ours,
                    std::string_view allowed) {
  http::AnswerHead head = exchange.begin(204);
  head.field("Allow", allowed);
  if (parts.partial_uploads != nullptr) {
    if (ours == nullptr) tell_of_parts(head, parts);
    if (ours != nullptr && ours->is_for_uploads()) ours->tell_options(head, parts);
  }
  if (parts.offer.has_listings) head.field("DAV", "1, 2").field("MS-Author-Via", "DAV");
  exchange.connection().send(head.finish());
}

void refuse_host(Exchange& exchange) {
  http::AnswerHead head = exchange.begin(421);
  exchange.send_text(
      head, "text/plain; charset=utf-8",
      "This server does not know the name that it was asked by. If it is to answer to "
      "it,\nstart the fileserver with --http-host NAME.\n");
}

}  // namespace

void HttpSession::serve(serve::Stream& stream) {
  if (parts_.transfer_log != nullptr) stream.keep_times();
  serve::HttpConversation connection(stream);
  while (const http::RequestHead* const head = connection.next_request()) {
    const telemetry::RequestTimer timer;
    Exchange exchange(*head, connection);
    const std::int64_t asked_ns = parts_.logs_users() ? base::now_ns() : 0;
    exchange.client = client_of(exchange);
    if (!base::completes("a request failed", [&] { answer(exchange); })) exchange.fail();
    log_refusal(exchange, parts_, asked_ns);
    timer.count(exchange.verb, exchange.outcome(), exchange.ending());
  }
}

net::IpAddress HttpSession::client_of(Exchange& exchange) const {
  if (exchange.head().has(http::Field::kXForwardedFor))
    parts_.unnamed_proxy.note(parts_.trusted_proxies, exchange.stream().peer());
  ForwardedFor forwarded(parts_.trusted_proxies);
  if (!parts_.trusted_proxies.empty()) {
    exchange.head().each(http::Field::kXForwardedFor,
                         [&](std::string_view value) { forwarded.take(value); });
  }
  return forwarded.client(exchange.stream().peer());
}

void HttpSession::answer(Exchange& exchange) {
  const Method method = exchange.method();
  const ServerPath* const ours = server_path(exchange.path());
  const bool takes_patch = ours != nullptr && ours->method == Method::kPatch;
  if (method == Method::kOther || (method == Method::kPatch && !takes_patch))
    return exchange.answer(501);
  if (method == Method::kConnect) return exchange.answer_not_allowed(allowed_with(parts_.offer));
  if (!hosts_.accepts(exchange.head(), known_host_)) return refuse_host(exchange);
  const bool lacks_uploads =
      ours != nullptr && ours->is_for_uploads() && parts_.partial_uploads == nullptr;
  const bool is_for_guests =
      (ours != nullptr && ours->name == kGuestPaths) || exchange.head().path().starts_with("/-/l/");
  const bool is_nothing = lacks_uploads || (ours != nullptr && ours->handler == nullptr) ||
                          (ours == nullptr && is_for_guests);
  const auto allowed = [&] {
    if (is_nothing) return std::string("OPTIONS");
    return ours == nullptr ? allowed_with(parts_.offer) : std::string(ours->allowed);
  };
  if (method == Method::kOptions) return answer_options(exchange, parts_, ours, allowed());
  if (is_nothing) return exchange.answer(404);
  if (ours != nullptr && ours->name == kTusPaths) speak_tus(exchange);
  const bool is_folder = exchange.path() && exchange.path()->ends_with_slash;
  const Handler handler =
      ours == nullptr ? handler_of(method, is_folder, parts_.offer) : ours->handler_of(method);
  if (handler == nullptr) return exchange.answer_not_allowed(allowed());
  const bool is_for_anybody = ours != nullptr && ours->is_for_anybody(method);
  if (is_for_anybody && !is_for_guests &&
      may_be_forged(exchange, RequestCredentials(exchange.head())))
    return exchange.answer(403);
  if (!is_for_anybody && !is_validated(exchange)) return;
  if (ours != nullptr || handler == &put_nowhere) return handler(exchange, parts_);
  if (!exchange.path()) return exchange.answer(404);
  answer_within_rights(exchange, parts_, handler);
}

// Validates the credentials of each request. If they are not good, the answer says so.
bool HttpSession::is_validated(Exchange& exchange) {
  const telemetry::RequestTimer timer;
  const RequestCredentials credentials(exchange.head());
  exchange.is_by_session = !credentials.token().empty();
  if (!credentials.account() && !exchange.is_by_session) {
    exchange.answer(401);
    return false;
  }
  if (may_be_forged(exchange, credentials)) {
    exchange.answer(403);
    return false;
  }
  exchange.validated_ns = base::now_ns();
  auto [granted, user] = validate(exchange, parts_, credentials);
  serve::log_request("http", user, granted.status);
  if (!granted.status) exchange.refused_user = user;
  if (granted.is_throttled) {
    exchange.answer(429);
  } else if (!granted.status) {
    exchange.answer(granted.status.error());
  } else {
    exchange.stream().note_granted();
    exchange.rights = parts_.rights.of(user);
    exchange.user = std::move(user);
  }
  timer.count(Verb::kLogIn, exchange.outcome());
  if (!granted.status.ok()) return false;
  if (!is_part_of_other_site(exchange.head())) return true;
  exchange.answer(403);  // alike for all names
  return false;
}

}  // namespace fileserver
