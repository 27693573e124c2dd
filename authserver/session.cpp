#include "authserver/session.h"

#include <algorithm>
#include <string>
#include <string_view>
#include <utility>
#include <variant>

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
Verb verb_of(const wire::Refused&) { return Verb::kOther; }

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
    if (!std::holds_alternative<wire::Refused>(request)) connection.flush();
    const auto together = take_together(connection, request);
    if (together.empty()) {
      answer_alone(connection, request, timer);
    } else {
      answer_together(connection, together, timer);
    }
  }
}

std::vector<wire::Credentials> Session::take_together(serve::LineConversation& connection,
                                                      const wire::AuthRequest& first) const {
  const auto* const first_auth = std::get_if<wire::Auth>(&first);
  if (first_auth == nullptr || store_config_.connection == StoreConnection::kPerRequest) return {};
  std::vector<wire::Credentials> accounts;
  const auto take_account = [&accounts](std::string_view line) {  // false leaves the line there
    const auto request = wire::parse_auth_line(line);
    const auto* const auth = std::get_if<wire::Auth>(&request);
    if (auth != nullptr) accounts.push_back(auth->account);
    return auth != nullptr;
  };
  while (accounts.size() + 1 < kMostTogether && connection.take_line_at_hand(take_account)) {
  }
  if (!accounts.empty()) accounts.insert(accounts.begin(), first_auth->account);
  return accounts;
}

void Session::answer_alone(serve::LineConversation& connection, const wire::AuthRequest& request,
                           const telemetry::RequestTimer& timer) {
  const auto status = std::visit([this](const auto& one) { return answer(one); }, request);
  serve::answer(connection, status);
  timer.count(std::visit([](const auto& one) { return verb_of(one); }, request),
              connection.outcome());
  if (store_config_.connection == StoreConnection::kPerRequest) disconnect_after_reply(connection);
}

void Session::answer_together(serve::LineConversation& connection,
                              const std::vector<wire::Credentials>& accounts,
                              const telemetry::RequestTimer& timer) {
  std::vector<std::string_view> users(accounts.size());
  std::ranges::transform(accounts, users.begin(), &wire::Credentials::user);
  std::vector<base::Result<std::string>> records;
  const auto asked = with_store([&](AccountStore& store) -> base::Status {
    records = store.find_records(users);
    return base::kDone;
  });
  if (!asked) records.resize(accounts.size(), asked.error());
  for (std::size_t i = 0; i < accounts.size(); ++i) {
    const auto status = authenticator_.verify(accounts[i], records[i], [&] { connection.flush(); });
    serve::log_request("auth", accounts[i].user, status);
    serve::answer(connection, status);
    timer.count(Verb::kLogIn, connection.outcome());
  }
}

// Taking leave of a store takes time, for which the client need not wait.
void Session::disconnect_after_reply(serve::LineConversation& connection) {
  connection.flush();
  if (store_ != nullptr) store_->disconnect();
}

base::Status Session::answer(const wire::Ping&) {
  return with_store([](AccountStore& store) -> base::Status {
    if (store.ping()) return base::kDone;
    return base::Error{base::ErrorCode::kUnavailable, "the store does not answer"};
  });
}

base::Status Session::answer(const wire::New& request) {
  const auto status = with_store(
      [&](AccountStore& store) { return authenticator_.create(store, request.account); });
  serve::log_request("new", request.account.user, status);
  return status;
}

base::Status Session::answer(const wire::Auth& request) {
  const auto status = with_store(
      [&](AccountStore& store) { return authenticator_.verify(store, request.account); });
  serve::log_request("auth", request.account.user, status);
  return status;
}

base::Status Session::answer(const wire::Refused& refused) {
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
base::Status Session::with_store(Ask ask) {
  if (store_ == nullptr) {
    auto opened = open_store();
    if (!opened) return opened.error();
    store_ = telemetry::is_on() ? timed(std::move(*opened)) : std::move(*opened);
  }
  return ask(*store_);
}

}  // namespace authserver
