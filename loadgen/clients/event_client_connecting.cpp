// How an EventClient gets its connections, and how it ends them.
#include <algorithm>
#include <cerrno>
#include <utility>

#include "base/clock.h"
#include "loadgen/clients/event_client.h"
#include "net/connect.h"

namespace loadgen {

namespace {

// A user whose server does not let it connect yet asks at least so often.
constexpr std::int64_t kLongestRetryNs = 64 * base::kNsPerMs;

// Whether a connection that has ended with this errno was made before: a server may answer and
// reset it at once. Reading finds what it has said.
bool was_connected(int errno_value) { return errno_value == ECONNRESET || errno_value == EPIPE; }

}  // namespace

EventClient::Pause EventClient::connect() {
  hang_up();
  const std::int64_t connection = connections_++;
  const auto turn = static_cast<std::uint64_t>(user_) + static_cast<std::uint64_t>(connection);
  server_ = &tools_.servers[turn % tools_.servers.size()];
  source_ = tools_.sources.of(user_, connection);
  is_reused_ = false;
  auto made = net::begin_to_connect(*server_, source_, 0);
  if (!made && made.error().code == base::ErrorCode::kBusy) return retry();
  if (!made) return fail_to_connect(made.error().context);
  socket_ = std::move(*made);
  is_ready_ = false;
  stage_ = Stage::kConnecting;
  watch(number_, socket_.get());
  return tools_.failure ? fail_to_connect(*tools_.failure) : std::nullopt;
}

void EventClient::watch(std::uint32_t number, int fd) {
  const auto watched = tools_.engine->watch_changes(number, fd);
  if (!watched && !tools_.failure) tools_.failure = watched.error().context;
}

// Many users retry together, so each asks less and less often.
EventClient::Pause EventClient::retry() {
  const std::int64_t pause_ns = retry_ns_;
  retry_ns_ = std::min(2 * retry_ns_, kLongestRetryNs);
  return pause(Stage::kRetrying, pause_ns);
}

// See Client::carry_out() for the millisecond that a failure takes at least.
EventClient::Pause EventClient::fail_to_connect(const std::string& why) {
  const std::int64_t now_ns = base::now_ns();
  exchange_.failure = now_ns >= deadline_ns_ ? Cause(Fault::kTimeout) : Cause(Fault::kConnect);
  exchange_.why = why;
  if (!is_kept_) exchange_.connected_ns = now_ns;
  if (now_ns - exchange_.started_ns >= base::kNsPerMs) return finish();
  return pause(Stage::kFailing, base::kNsPerMs);
}

EventClient::Pause EventClient::pause(Stage stage, std::int64_t pause_ns) {
  resumes_ns_ = base::now_ns() + pause_ns;
  stage_ = stage;
  return State::kPauses;
}

bool EventClient::is_pause_over() const { return base::now_ns() >= resumes_ns_; }

// A server that says something at once, or closes, may have done so before the engine has reported
// the connection. So there may be bytes already.
EventClient::Pause EventClient::finish_connecting() {
  if (!is_ready_) return State::kWaits;
  const int failure = net::outcome_of_connect(socket_.get());
  if (failure != 0 && !was_connected(failure))
    return fail_to_connect("connect to " + server_->text() + ": " + text_of(failure));
  return tools_.tls != nullptr ? encrypt() : begin_connection();
}

EventClient::Pause EventClient::encrypt() {
  const Config& config = tools_.config;
  encrypts_since_ns_ = base::now_ns();
  socket_ = tools_.tls->begin(socket_.release_fd(), config.server.host, config.timeout_ms,
                              session_.get());
  stage_ = Stage::kShakingHands;
  return {};
}

EventClient::Pause EventClient::shake_hands() {
  const auto made = socket_.channel()->try_to_shake_hands();
  if (!made) return fail_to_connect(made.error().context);
  if (!*made) return State::kWaits;
  tools_.handshakes->add(base::now_ns() - encrypts_since_ns_, socket_.channel()->is_resumed());
  return begin_connection();
}

EventClient::Pause EventClient::begin_connection() {
  ++made_;
  if (is_again_) ++reconnects_;
  if (!is_kept_) exchange_.connected_ns = base::now_ns();
  driver_->begin_connection();
  if (request_ == nullptr) {
    stage_ = Stage::kIdle;
    return State::kDone;
  }
  driver_->begin(*request_);
  stage_ = Stage::kConversing;
  return {};
}

// Some servers refuse a connection from an address other than that of the log-in.
EventClient::Pause EventClient::connect_for_data(std::uint16_t port) {
  auto made = net::begin_to_connect(server_->with_port(port), source_, 0);
  if (!made) return fail(Fault::kConnect, made.error().context);
  data_socket_ = std::move(*made);
  is_data_ready_ = false;
  stage_ = Stage::kConnectingData;
  watch(number_ + tools_.users, data_socket_.get());
  return {};
}

EventClient::Pause EventClient::finish_connecting_for_data() {
  if (!is_data_ready_) return State::kWaits;
  const int failure = net::outcome_of_connect(data_socket_.get());
  if (failure != 0 && !was_connected(failure)) return fail(Fault::kConnect, text_of(failure));
  exchange_.data_connected_ns = base::now_ns();
  stage_ = Stage::kConversing;
  return {};
}

void EventClient::hang_up() {
  close_data();
  pending_ = {};
  kept_.clear();
  if (!socket_.is_open()) return;
  if (tools_.config.resumes && socket_.channel() != nullptr) {
    if (auto session = socket_.channel()->session()) session_ = std::move(session);
  }
  tools_.engine->forget(number_);
  const tls::Socket closed = std::move(socket_);
}

void EventClient::close_data() {
  if (!data_socket_.is_open()) return;
  tools_.engine->forget(number_ + tools_.users);
  const tls::Socket closed = std::move(data_socket_);
}

}  // namespace loadgen
