#include "authserver/session.h"

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

#include "authserver/administration.h"
#include "authserver/stores/watched_store.h"
#include "base/clock.h"
#include "serve/answer.h"
#include "telemetry/counters.h"
#include "wire/http_line.h"
#include "wire/reply.h"

namespace authserver {

namespace {

using telemetry::Verb;

constexpr std::size_t kMostTogether = 32;  // a line buffer holds about as many

Verb verb_of(const wire::Ping&) { return Verb::kPing; }
Verb verb_of(const wire::New&) { return Verb::kNew; }
Verb verb_of(const wire::Auth&) { return Verb::kLogIn; }
Verb verb_of(const wire::Open&) { return Verb::kLogIn; }
Verb verb_of(const wire::Token&) { return Verb::kLogIn; }
Verb verb_of(const wire::Close&) { return Verb::kOther; }
Verb verb_of(const wire::NewPassword&) { return Verb::kOther; }
Verb verb_of(const wire::As&) { return Verb::kOther; }
Verb verb_of(const wire::Refused&) { return Verb::kOther; }

bool may_be_answered_together(const wire::AuthRequest& request) {
  return std::holds_alternative<wire::Auth>(request) ||
         std::holds_alternative<wire::Token>(request);
}

// Of `token:`. A link says nothing of its user.
bool is_for_requests(TokenKind kind) {
  return kind == TokenKind::kSession || kind == TokenKind::kLink;
}

base::Error no_such_token() { return {base::ErrorCode::kDenied, "no such token"}; }

// One question to the store, for one name or for several.
std::vector<base::Result<std::string>> find(AccountStore& store,
                                            const std::vector<std::string_view>& names) {
  std::vector<base::Result<std::string>> records;
  if (names.size() > 1) return store.find_records(names);
  records.reserve(names.size());
  for (const std::string_view name : names) records.push_back(store.find_record(name));
  return records;
}

void reply(serve::LineConversation& connection, const base::Result<std::string>& answer) {
  if (!answer) {
    serve::answer(connection, answer.error());
  } else if (answer->empty()) {
    connection.reply_ok();
  } else if (answer->size() <= wire::LineBuffer::kMaxContentBytes) {
    connection.reply_content(*answer);
  } else {
    connection.stream().send(connection.begin_sized_reply(answer->size()), *answer);
  }
}

base::Result<std::string> without_content(const base::Status& status) {
  return status ? base::Result<std::string>(std::string()) : status.error();
}

bool is_denied(const base::Status& status) {
  return !status && status.error().code == base::ErrorCode::kDenied;
}

base::Status status_of(const base::Result<std::string>& answer) {
  return answer ? base::Status(base::kDone) : answer.error();
}

bool is_from_browser(std::string_view line, const wire::AuthRequest& request) {
  return std::holds_alternative<wire::Refused>(request) && wire::is_line_of_browser(line);
}

// What follows such a line may be chosen by a page of any site, so it must not be carried out.
void end_for_browser(serve::LineConversation& connection, const telemetry::RequestTimer& timer) {
  constexpr auto kSyntax = base::ErrorCode::kSyntax;
  connection.end_with(kSyntax, wire::error_line(kSyntax, wire::text_of(kSyntax)));
  timer.count(Verb::kOther, connection.outcome());
}

}  // namespace

void Session::converse(serve::LineConversation& connection) {
  while (const auto line = connection.next_line()) {
    const telemetry::RequestTimer timer;
    const auto request = wire::parse_auth_line(*line);
    if (is_from_browser(*line, request)) {
      end_for_browser(connection, timer);
      return;
    }
    if (!std::holds_alternative<wire::Refused>(request)) {
      connection.stream().note_granted();  // a fileserver keeps what it has asked on
      connection.flush();
    }
    const auto together = take_together(connection, request);
    if (together.empty()) {
      answer_alone(connection, request, timer);
    } else {
      answer_together(connection, together, timer);
    }
  }
}

struct Session::Asked {
  explicit Asked(const wire::AuthRequest& asked) : request(asked) {
    std::string_view secret;
    if (const auto* const one = std::get_if<wire::Token>(&request)) secret = one->token;
    if (const auto* const auth = std::get_if<wire::Auth>(&request)) {
      user = auth->account.user;
      secret = auth->account.password;
    }
    if (wire::is_token(secret)) row = row_of_token(secret);
  }

  // A password that looks like a token is an application password, or one that somebody chose.
  void take_token(const base::Result<std::string>& found) {
    if (!found && found.error().code != base::ErrorCode::kNotFound) {
      record = found.error();
      user = {};
      return;
    }
    token = found ? parse_token_record(*found) : std::nullopt;
    const auto* const auth = std::get_if<wire::Auth>(&request);
    const bool is_good = token && (auth != nullptr ? is_app_of(*token, auth->account.user)
                                                   : is_for_requests(token->kind));
    if (!is_good) token.reset();
    if (token) user = token->user;
  }

  wire::AuthRequest request;
  std::string row;                                  // of a token; empty: it cannot be one
  std::optional<TokenRecord> token;                 // what its row says
  std::string_view user;                            // whose account is asked for; empty: nobody's
  base::Result<std::string> record{std::string()};  // that of the account, or why there is none
};

std::vector<wire::AuthRequest> Session::take_together(serve::LineConversation& connection,
                                                      const wire::AuthRequest& first) const {
  if (!may_be_answered_together(first) || store_config_.connection == StoreConnection::kPerRequest)
    return {};
  std::vector<wire::AuthRequest> requests;
  const auto take = [&](std::string_view line) {  // false leaves the line there
    const auto request = wire::parse_auth_line(line);
    if (!may_be_answered_together(request)) return false;
    if (requests.empty()) requests = {first};
    requests.push_back(request);
    return true;
  };
  while (requests.size() < kMostTogether && connection.take_line_at_hand(take)) {
  }
  return requests;
}

void Session::answer_alone(serve::LineConversation& connection, const wire::AuthRequest& request,
                           const telemetry::RequestTimer& timer) {
  auto answered = std::visit([this](const auto& one) { return answer(one); }, request);
  reply(connection, answered);
  if (answered) wipe(*answered);
  timer.count(std::visit([](const auto& one) { return verb_of(one); }, request),
              connection.outcome());
  if (store_config_.connection == StoreConnection::kPerRequest) disconnect_after_reply(connection);
}

void Session::answer_together(serve::LineConversation& connection,
                              const std::vector<wire::AuthRequest>& requests,
                              const telemetry::RequestTimer& timer) {
  std::vector<Asked> all(requests.begin(), requests.end());
  const auto asked = with_store([&](AccountStore& store) -> base::Status {
    look_up(store, all);
    return base::kDone;
  });
  for (Asked& one : all) {
    const auto answered =
        asked ? verdict_on(one, [&] { connection.flush(); }) : Answer(asked.error());
    reply(connection, answered);
    timer.count(Verb::kLogIn, connection.outcome());
  }
}

// First the tokens, which say whose accounts they stand for, then all accounts.
void Session::look_up(AccountStore& store, std::vector<Asked>& all) {
  std::vector<std::string_view> names;
  std::vector<Asked*> askers;
  for (Asked& one : all) {
    if (one.row.empty()) continue;
    names.push_back(one.row);
    askers.push_back(&one);
  }
  auto found = find(store, names);
  for (std::size_t i = 0; i < found.size(); ++i) askers[i]->take_token(found[i]);
  names.clear();
  askers.clear();
  for (Asked& one : all) {
    if (one.user.empty()) continue;
    names.push_back(one.user);
    askers.push_back(&one);
  }
  found = find(store, names);
  for (std::size_t i = 0; i < found.size(); ++i) askers[i]->record = std::move(found[i]);
}

// Requires: the store was opened, and asked for all that the request needs.
Session::Answer Session::verdict_on(Asked& one, const Authenticator::BeforeHash& before_hash) {
  base::Status status = base::kDone;
  if (one.token) status = check_token(*store_, tokens_, one.row, *one.token, one.record);
  if (const auto* const auth = std::get_if<wire::Auth>(&one.request)) {
    if (!one.token || is_denied(status))
      status = authenticator_.verify(auth->account, one.record, before_hash);
    serve::log_request("auth", auth->account.user, status);
    return without_content(status);
  }
  if (!one.token) status = one.record ? no_such_token() : one.record.error();
  serve::log_request("token", one.user, status);
  if (!status) return status.error();
  return one.token->kind == TokenKind::kLink ? "link " + id_of(one.row) : "user " + one.token->user;
}

// Taking leave of a store takes time, for which the client need not wait.
void Session::disconnect_after_reply(serve::LineConversation& connection) {
  connection.flush();
  if (store_ != nullptr) store_->disconnect();
}

Session::Answer Session::answer(const wire::Ping&) {
  return with_store([](AccountStore& store) -> Answer {
    if (store.ping()) return std::string();
    return base::Error{base::ErrorCode::kUnavailable, "the store does not answer"};
  });
}

Session::Answer Session::answer(const wire::New& request) {
  const auto status = with_store(
      [&](AccountStore& store) { return authenticator_.create(store, request.account); });
  serve::log_request("new", request.account.user, status);
  return without_content(status);
}

Session::Answer Session::answer(const wire::Auth& request) { return answer_one(request); }
Session::Answer Session::answer(const wire::Token& request) { return answer_one(request); }

Session::Answer Session::answer_one(const wire::AuthRequest& request) {
  return with_store([&](AccountStore& store) {
    Asked one(request);
    if (!one.row.empty()) one.take_token(store.find_record(one.row));
    if (!one.user.empty()) one.record = store.find_record(one.user);
    return verdict_on(one, [] {});
  });
}

// The token is tied to the record that the password was checked against: if the password changes
// meanwhile, the token never counts.
Session::Answer Session::answer(const wire::Open& request) {
  auto opened = with_store([&](AccountStore& store) -> Answer {
    auto record = store.find_record(request.account.user);
    std::string checked = record ? *record : std::string();
    const auto verdict = authenticator_.verify(request.account, record, [] {});
    Answer token = verdict ? open_token(store, tokens_, request.account.user, checked,
                                        {TokenKind::kSession, request.seconds})
                           : Answer(verdict.error());
    wipe(checked);
    return token;
  });
  serve::log_request("open", request.account.user, status_of(opened));
  return opened;
}

Session::Answer Session::answer(const wire::Close& request) {
  const auto status = with_store([&](AccountStore& store) -> base::Status {
    if (!wire::is_token(request.token)) return base::kDone;
    return close_token(store, tokens_, row_of_token(request.token));
  });
  return without_content(status);
}

Session::Answer Session::answer(const wire::NewPassword& request) {
  const std::string_view user = request.account.user;
  const auto status = with_store([&](AccountStore& store) -> base::Status {
    auto changed =
        authenticator_.change_password(store, {user, request.password}, request.account.password);
    if (changed) clear_tokens_of(store, user, Ended::kAllButApps);
    return changed;
  });
  serve::log_request("password", user, status);
  return without_content(status);
}

Session::Answer Session::answer(const wire::As& request) {
  return with_store([&](AccountStore& store) {
    return Administration(store, authenticator_, tokens_).answer(request);
  });
}

Session::Answer Session::answer(const wire::Refused& refused) {
  return base::Error{refused.code, "refused"};
}

base::Result<std::unique_ptr<AccountStore>> Session::open_store() {
  const std::string where = store_config_.backend->where();
  const std::int64_t began_ns = base::now_ns();
  auto opened = store_config_.open();
  if (opened)
    return std::unique_ptr<AccountStore>(
        std::make_unique<WatchedStore>(std::move(*opened), where, store_outages_));
  store_outages_.all.note_failure({"the store", where}, opened.error().context, began_ns);
  return opened;
}

template <typename Ask>
auto Session::with_store(Ask ask) -> decltype(ask(std::declval<AccountStore&>())) {
  if (store_ == nullptr) {
    auto opened = open_store();
    if (!opened) return opened.error();
    store_ = telemetry::is_on() ? timed(std::move(*opened)) : std::move(*opened);
  }
  return ask(*store_);
}

}  // namespace authserver
