#include "authserver/session.h"

#include <string>
#include <utility>
#include <variant>

#include "authserver/stores/timed_store.h"
#include "authserver/stores/watched_store.h"
#include "base/clock.h"
#include "serve/answer.h"
#include "telemetry/counters.h"

namespace authserver {

namespace {

using telemetry::Verb;

Verb verb_of(const wire::Ping&) { return Verb::kPing; }
Verb verb_of(const wire::New&) { return Verb::kNew; }
Verb verb_of(const wire::Auth&) { return Verb::kLogIn; }
Verb verb_of(const wire::Refused&) { return Verb::kOther; }

}  // namespace

void Session::serve(serve::Connection& connection) {
  while (const auto line = connection.next_line()) {
    const telemetry::RequestTimer timer;
    const auto request = wire::parse_auth_line(*line);
    if (!std::holds_alternative<wire::Refused>(request)) connection.flush();
    const auto status = std::visit([this](const auto& one) { return answer(one); }, request);
    serve::answer(connection, status);
    timer.count(std::visit([](const auto& one) { return verb_of(one); }, request),
                connection.outcome());
    if (store_config_.connection == StoreConnection::kPerRequest)
      disconnect_after_reply(connection);
  }
}

// Taking leave of a store takes time, for which the client need not wait.
void Session::disconnect_after_reply(serve::Connection& connection) {
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
        std::make_unique<WatchedStore>(std::move(*opened), where, store_outage_));
  store_outage_.note_failure({"the store", where}, opened.error().context, began_ns);
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
