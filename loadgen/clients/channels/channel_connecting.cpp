// The connections of a channel: how they are made, kept, lost and made again.
#include <cerrno>
#include <string>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "loadgen/clients/channels/channel.h"
#include "net/connect.h"

namespace loadgen {

namespace {

// How often a connection is made again for one file, and how long it waits before: so long the
// first time, twice as long the second time.
constexpr int kMostLosses = 3;
constexpr std::int64_t kPauseNs = 20 * base::kNsPerMs;

std::string text_of(int errno_value) { return std::generic_category().message(errno_value); }

}  // namespace

void Channel::begin() {
  losses_ = 0;
  resumes_ns_ = 0;
  has_brought_ = false;
  is_again_ = false;
  is_behind_ = is_only_reply_missing();
  is_reused_ = is_untried_ = has_served_ && (stage_ == Stage::kIdle || is_behind_);
}

void Channel::end() {
  const bool is_kept = stage_ == Stage::kIdle || is_connecting() || is_only_reply_missing();
  if (!is_kept) hang_up();
}

bool Channel::is_only_reply_missing() const {
  return has_data_connections() && stage_ == Stage::kConversing && current_.is_under_way &&
         current_.part && current_.left_bytes == 0;
}

void Channel::hang_up() {
  if (tools_.config.resumes && socket_.channel() != nullptr) {
    if (auto session = socket_.channel()->session()) tools_.session = std::move(session);
  }
  const tls::Socket closed = std::move(socket_);
  const tls::Socket closed_data = std::move(data_socket_);
  for (Ask* const ask : {&current_, &following_}) ask->is_under_way = ask->has_look = false;
  unsent_.clear();
  received_.clear();
  stage_ = Stage::kClosed;
  has_served_ = is_untried_ = is_behind_ = false;
}

void Channel::connect() {
  if (stage_ == Stage::kClosed) begin_to_connect();
}

void Channel::settle(bool is_ready) {
  if (is_connecting()) step(is_ready);
}

bool Channel::begin_to_connect() {
  const std::int64_t connection = tools_.connections++;
  const auto turn = static_cast<std::uint64_t>(tools_.thread + connection);
  server_ = &tools_.servers[turn % tools_.servers.size()];
  source_ = tools_.sources.of(tools_.thread, connection);
  auto made = net::begin_to_connect(*server_, source_, 0);
  if (!made) return lose(Fault::kConnect, made.error().context);
  socket_ = std::move(*made);
  stage_ = Stage::kConnecting;
  return false;
}

bool Channel::finish_connecting() {
  if (const int failure = net::outcome_of_connect(socket_.get()); failure != 0)
    return lose(Fault::kConnect, "connect to " + server_->text() + ": " + text_of(failure));
  return tools_.tls != nullptr ? encrypt() : begin_connection();
}

bool Channel::encrypt() {
  const Config& config = tools_.config;
  encrypts_since_ns_ = base::now_ns();
  socket_ = tools_.tls->begin(socket_.release_fd(), config.server.host, config.timeout_ms,
                              tools_.session.get());
  stage_ = Stage::kShakingHands;
  return shake_hands();
}

bool Channel::shake_hands() {
  const auto made = socket_.channel()->try_to_shake_hands();
  if (!made) return lose(Fault::kConnect, made.error().context);
  if (!*made) return false;
  tools_.handshakes->add(base::now_ns() - encrypts_since_ns_, socket_.channel()->is_resumed());
  return begin_connection();
}

bool Channel::begin_connection() {
  ++tools_.made;
  if (std::exchange(is_again_, false)) ++tools_.reconnects;
  if (tools_.config.connection != Connection::kKeepAlive) {
    Exchange& exchange = transfer_.exchange();
    if (exchange.connected_ns == 0) exchange.connected_ns = base::now_ns();
  }
  current_.driver->begin_connection();
  if (following_.driver) following_.driver->begin_connection();
  must_look_ = has_data_connections();
  stage_ = Stage::kIdle;
  return true;
}

// Some servers refuse a connection from an address other than that of the log-in.
bool Channel::open_data(std::uint16_t port) {
  auto made = net::begin_to_connect(server_->with_port(port), source_, 0);
  if (!made) return lose(Fault::kConnect, made.error().context);
  data_socket_ = std::move(*made);
  stage_ = Stage::kConnectingData;
  return false;
}

bool Channel::finish_connecting_for_data() {
  if (const int failure = net::outcome_of_connect(data_socket_.get()); failure != 0)
    return lose(Fault::kConnect, text_of(failure));
  Exchange& exchange = transfer_.exchange();
  if (exchange.data_connected_ns == 0) exchange.data_connected_ns = base::now_ns();
  stage_ = Stage::kConversing;
  return true;
}

void Channel::give_back(Ask& ask) {
  if (!ask.is_under_way) return;
  if (std::exchange(ask.has_look, false)) transfer_.give_look_back();
  if (ask.part) transfer_.give_back(*ask.part);
  ask.is_under_way = false;
}

bool Channel::lose_after(ssize_t got) {
  if (got < 0 && errno == EAGAIN) return false;
  if (got == 0) return lose(Fault::kClosed, "the server closed the connection");
  const int failure = errno;
  const std::string of_tls = socket_.failure();
  return lose(Fault::kClosed, of_tls.empty() ? text_of(failure) : of_tls);
}

// The server has said that it ends the connection, before it had the request.
bool Channel::replace_kept(const std::string& why) {
  is_reused_ = true;
  return lose(Fault::kClosed, why);
}

// A connection that was kept may have ended while it was idle. That is no loss of this file.
bool Channel::lose(Cause cause, const std::string& why) {
  const bool was_made = stage_ != Stage::kClosed && !is_connecting();
  const bool is_whole = current_.part && current_.left_bytes == 0;
  if (is_whole) current_.is_under_way = false;
  give_back(current_);
  give_back(following_);
  hang_up();
  if (is_reused_) {
    is_reused_ = false;
    is_again_ = true;
    return true;
  }
  if (was_made) transfer_.count_lost();
  if (++losses_ <= kMostLosses) {
    resumes_ns_ = base::now_ns() + losses_ * kPauseNs;
  } else {
    resumes_ns_ = INT64_MAX;
    if (--tools_.working == 0) transfer_.fail(cause, why);
  }
  return true;
}

}  // namespace loadgen
