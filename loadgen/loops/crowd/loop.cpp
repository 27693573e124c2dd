#include "loadgen/loops/crowd/loop.h"

#include <algorithm>
#include <cerrno>
#include <cmath>
#include <system_error>

#include "base/clock.h"
#include "net/connect.h"
#include "net/socket_io.h"

namespace loadgen::crowd {

namespace {

constexpr int kMostWaitMs = 100;  // so that the end of the run is noticed
constexpr std::uint32_t kSampledAtOnce = 64;

std::string text_of(int errno_value) {
  return std::error_code(errno_value, std::generic_category()).message();
}

void add(std::atomic<int>& counter, int by) { counter.fetch_add(by, std::memory_order_relaxed); }

std::size_t most_at_once(const Config& config) {
  return static_cast<std::size_t>(std::max<std::int64_t>(1, config.crowd.receive_buffer_bytes));
}

}  // namespace

Standing LiveCounts::standing() const {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  Standing now{.started = started.load(kRelaxed)};
  now.held = now.started - dropped.load(kRelaxed);
  now.without_fetch = now.held - fetched.load(kRelaxed);
  return now;
}

CrowdLoop::CrowdLoop(const Shared& shared, Share share)
    : Loop(shared.config),
      shared_(shared),
      config_(shared.config),
      share_(share),
      pace_(config_.crowd.pace_bytes_s, config_.crowd.least_rate_percent, most_at_once(config_)),
      users_(static_cast<std::size_t>(share.users_of(config_.crowd.users))),
      wheel_(static_cast<std::uint32_t>(users_.size())),
      conversations_(config_),
      buffer_(std::size_t{64} * 1024) {}

void CrowdLoop::prepare() {
  auto engine = open_engine(config_.crowd.engine,
                            static_cast<std::uint32_t>(users_.size()) * sockets_of(config_));
  note(engine ? base::kDone : base::Status(engine.error()));
  if (engine) engine_ = std::move(*engine);
}

void CrowdLoop::carry_load(RunControl& control) {
  control.window_gate.wait();
  start_ns_ = next_sample_ns_ = control.window_start_ns;
  tally_ = &recorder_.begin_crowd(start_ns_);
  if (engine_) {
    serve();
    tally_->overflows = engine_->overflows();
  }
  for (const User& user : users_)
    if (user.phase != Phase::kGone && user.fetches > 0)
      tally_->rate_errors.push_back(user.worst_error);
  users_.clear();
  engine_.reset();
}

void CrowdLoop::serve() {
  for (std::uint32_t user = 0; user < users_.size(); ++user) {
    const std::int64_t part_ms =
        config_.crowd.ramp_ms * share_.number_of(user) / config_.crowd.users;
    wait_until(user, start_ns_ + part_ms * base::kNsPerMs);
  }
  std::vector<std::uint32_t> ready;
  while (!shared_.control.must_stop()) {
    ready.clear();
    const std::int64_t now_tick = (base::now_ns() - start_ns_) / base::kNsPerMs;
    tally_->most_late_ms = std::max(tally_->most_late_ms, now_tick - wheel_.next_tick());
    wheel_.take_due(now_tick, ready);
    for (const std::uint32_t user : ready) deal_with(user);
    if (base::now_ns() >= next_sample_ns_) sample_waiting_bytes();
    ready.clear();
    const std::int64_t left = wheel_.next_tick() - (base::now_ns() - start_ns_) / base::kNsPerMs;
    note(engine_->wait(static_cast<int>(std::clamp<std::int64_t>(left, 0, kMostWaitMs)), ready));
    ++tally_->wakeups;
    for (const std::uint32_t number : ready)
      deal_with(number % static_cast<std::uint32_t>(users_.size()));
  }
}

void CrowdLoop::deal_with(std::uint32_t user) {
  now_ns_ = base::now_ns();
  const User& one = users_[user];
  const bool has_limit = one.phase != Phase::kBeforeStart && one.phase != Phase::kGone;
  if (has_limit && now_ns_ > one.limit_ns)
    return drop(user, one.phase == Phase::kReading ? Fault::kTooSlow : Fault::kTimeout);
  switch (one.phase) {
    case Phase::kBeforeStart: return connect(user);
    case Phase::kConnecting: return finish_connecting(user);
    case Phase::kConnectingData: return finish_connecting_data(user);
    case Phase::kAsking:
    case Phase::kEnding: return go_on_asking(user);
    case Phase::kReading: return read(user);
    case Phase::kGone: return;
  }
}

void CrowdLoop::connect(std::uint32_t user) {
  User& one = users_[user];
  if (one.phase == Phase::kBeforeStart) add(live_.started, 1);
  recorder_.start();
  one.phase = Phase::kConnecting;
  one.is_logged_in = false;
  one.limit_ns = now_ns_ + config_.timeout_ms * base::kNsPerMs;
  one.source_turn = one.fetches;
  auto made = begin_to_connect(user, server_of(user));
  if (!made) return drop(user, Fault::kConnect, made.error().context);
  one.fd = std::move(*made);
  note(engine_->watch(user, one.fd.get()));
  wait_for_bytes(user, POLLOUT);
}

const net::SocketAddress& CrowdLoop::server_of(std::uint32_t user) const {
  const auto number = static_cast<std::size_t>(share_.number_of(user));
  return shared_.ready.servers[number % shared_.ready.servers.size()];
}

// Both connections of a user have one source address, because some servers demand it.
base::Result<net::Fd> CrowdLoop::begin_to_connect(std::uint32_t user,
                                                  const net::SocketAddress& to) const {
  return net::begin_to_connect(
      to, shared_.ready.sources.of(share_.number_of(user), users_[user].source_turn),
      static_cast<int>(config_.crowd.receive_buffer_bytes));
}

void CrowdLoop::finish_connecting(std::uint32_t user) {
  User& one = users_[user];
  if (const int failure = net::outcome_of_connect(one.fd.get()); failure != 0)
    return drop(user, Fault::kConnect, text_of(failure));
  recorder_.count_connections(1);
  int size = 0;
  socklen_t length = sizeof size;
  if (tally_->receive_buffer_bytes == 0 &&
      ::getsockopt(one.fd.get(), SOL_SOCKET, SO_RCVBUF, &size, &length) == 0)
    tally_->receive_buffer_bytes = static_cast<std::uint64_t>(size);
  ask(user);
}

void CrowdLoop::ask(std::uint32_t user) {
  User& one = users_[user];
  one.phase = Phase::kAsking;
  one.limit_ns = now_ns_ + config_.timeout_ms * base::kNsPerMs;
  one.conversation = conversations_.take();
  one.conversation->begin(config_, share_.number_of(user), one.fetches, one.is_logged_in);
  go_on_asking(user);
}

void CrowdLoop::go_on_asking(std::uint32_t user) {
  User& one = users_[user];
  const Answer answer = one.conversation->go_on(one.fd.get());
  switch (answer.kind) {
    case Answer::Kind::kWaits: return wait_for_bytes(user, POLLIN);
    case Answer::Kind::kFailed: return drop(user, *answer.failure, answer.why);
    case Answer::Kind::kData: return connect_for_data(user, answer.data_port);
    case Answer::Kind::kFile: return begin_to_read(user, answer);
    case Answer::Kind::kDone: break;
  }
  one.keeps_connection = answer.keeps_connection;
  conversations_.give_back(std::move(one.conversation));
  finish_fetch(user);
}

void CrowdLoop::connect_for_data(std::uint32_t user, std::uint16_t port) {
  User& one = users_[user];
  auto made = begin_to_connect(user, server_of(user).with_port(port));
  if (!made) return drop(user, Fault::kConnect, made.error().context);
  one.data_fd = std::move(*made);
  one.phase = Phase::kConnectingData;
  note(engine_->watch(data_number(user), one.data_fd.get()));
  wait_for_bytes(user, POLLOUT);
}

void CrowdLoop::finish_connecting_data(std::uint32_t user) {
  User& one = users_[user];
  if (const int failure = net::outcome_of_connect(one.data_fd.get()); failure != 0)
    return drop(user, Fault::kConnect, text_of(failure));
  one.phase = Phase::kAsking;
  go_on_asking(user);
}

void CrowdLoop::begin_to_read(std::uint32_t user, const Answer& answer) {
  User& one = users_[user];
  one.asked_ns = one.conversation->asked_ns();
  if (!one.data_fd.is_open()) conversations_.give_back(std::move(one.conversation));
  one.phase = Phase::kReading;
  one.is_logged_in = true;
  one.keeps_connection = answer.keeps_connection;
  one.size_bytes = answer.size_bytes;
  one.got_bytes = answer.early_bytes;
  recorder_.count_moved(answer.early_bytes);
  one.limit_ns = one.asked_ns + pace_.limit_ns(answer.size_bytes);
  tally_->file_bytes = std::max(tally_->file_bytes, answer.size_bytes);
  wait_until_due(user, pace_.next_read_ns(one.got_bytes, one.size_bytes));
}

// Reads what is due. A short read in the middle leaves the rest to the next moment, so that few
// reads are enough. At the end of the file the user waits for each byte.
void CrowdLoop::read(std::uint32_t user) {
  User& one = users_[user];
  const std::uint64_t due = pace_.due_bytes(now_ns_ - one.asked_ns, one.size_bytes);
  if (due > one.got_bytes) {
    const std::size_t wanted = std::min<std::uint64_t>(due - one.got_bytes, buffer_.size());
    const ssize_t got = net::receive_now(one.file_fd().get(), {buffer_.data(), wanted});
    if (got == 0) return drop(user, Fault::kClosed, "the server closed the connection");
    if (got < 0 && errno != EAGAIN) return drop(user, Fault::kClosed, text_of(errno));
    if (got < 0) {
      ++tally_->empty_reads;
      return wait_for_bytes(user, POLLIN);
    }
    ++tally_->useful_reads;
    one.got_bytes += static_cast<std::uint64_t>(got);
    recorder_.count_moved(static_cast<std::uint64_t>(got));
  }
  if (due == one.size_bytes && one.got_bytes < due) return wait_for_bytes(user, POLLIN);
  if (one.got_bytes < one.size_bytes)
    return wait_until_due(user, pace_.next_read_ns(one.got_bytes, one.size_bytes));
  if (due < one.size_bytes) return wait_until_due(user, pace_.due_ns(one.size_bytes));
  finish_file(user);
}

void CrowdLoop::finish_file(std::uint32_t user) {
  User& one = users_[user];
  const double error = std::abs(pace_.error_of(one.size_bytes, base::now_ns() - one.asked_ns));
  one.worst_error = std::max(one.worst_error, static_cast<float>(error));
  if (!one.data_fd.is_open()) return finish_fetch(user);
  close_data(one, user);
  one.phase = Phase::kEnding;
  one.limit_ns = now_ns_ + config_.timeout_ms * base::kNsPerMs;
  go_on_asking(user);
}

void CrowdLoop::finish_fetch(std::uint32_t user) {
  User& one = users_[user];
  if (one.fetches++ == 0) add(live_.fetched, 1);
  recorder_.record({.started_ns = one.asked_ns,
                    .ended_ns = base::now_ns(),
                    .announced_bytes = one.size_bytes,
                    .moved_bytes = one.got_bytes});
  if (one.keeps_connection) {
    recorder_.start();
    return ask(user);
  }
  leave(one, user);
  connect(user);
}

void CrowdLoop::drop(std::uint32_t user, Cause cause, const std::string& why) {
  User& one = users_[user];
  recorder_.record({.failure = cause, .started_ns = now_ns_, .ended_ns = now_ns_, .why = why});
  tally_->drop_outs.push_back({.at_ns = now_ns_ - start_ns_,
                               .cause = cause,
                               .why = why,
                               .was_in_first_fetch = one.fetches == 0});
  add(live_.dropped, 1);
  if (one.fetches > 0) add(live_.fetched, -1);
  leave(one, user);
  one.phase = Phase::kGone;
}

void CrowdLoop::leave(User& one, std::uint32_t user) {
  wheel_.clear(user);
  conversations_.give_back(std::move(one.conversation));
  close_data(one, user);
  if (!one.fd.is_open()) return;
  engine_->forget(user);
  const net::Fd closed = std::move(one.fd);
}

void CrowdLoop::close_data(User& one, std::uint32_t user) {
  if (!one.data_fd.is_open()) return;
  engine_->forget(data_number(user));
  const net::Fd closed = std::move(one.data_fd);
}

void CrowdLoop::wait_for_bytes(std::uint32_t user, short events) {
  const User& one = users_[user];
  const bool is_for_data = one.phase == Phase::kConnectingData || one.phase == Phase::kReading;
  const bool has_data = one.data_fd.is_open();
  note(engine_->arm(is_for_data && has_data ? data_number(user) : user, events));
  wait_until(user, users_[user].limit_ns + base::kNsPerMs);
}

void CrowdLoop::wait_until(std::uint32_t user, std::int64_t moment_ns) {
  wheel_.set(user, tick_at(moment_ns));
}

// `bytes_due_ns` counts from the moment at which the user sent the name.
void CrowdLoop::wait_until_due(std::uint32_t user, std::int64_t bytes_due_ns) {
  const User& one = users_[user];
  const std::int64_t grain = pace_.grain_ms(one.size_bytes);
  const std::int64_t tick = tick_at(one.asked_ns + bytes_due_ns);
  wheel_.set(user, (tick + grain - 1) / grain * grain);
}

// Rounded up: at this tick the moment has come.
std::int64_t CrowdLoop::tick_at(std::int64_t moment_ns) const {
  return (moment_ns - start_ns_ + base::kNsPerMs - 1) / base::kNsPerMs;
}

// Once a second, the next users in turn.
void CrowdLoop::sample_waiting_bytes() {
  next_sample_ns_ += base::kNsPerS;
  const auto users = static_cast<std::uint32_t>(users_.size());
  for (std::uint32_t looked_at = 0; looked_at < std::min(users, kSampledAtOnce); ++looked_at) {
    next_sampled_ = (next_sampled_ + 1) % users;
    const User& one = users_[next_sampled_];
    if (one.phase != Phase::kReading) continue;
    const auto bytes = static_cast<std::uint64_t>(net::unread_bytes(one.file_fd().get()));
    ++tally_->waiting.samples;
    tally_->waiting.sum += bytes;
    tally_->waiting.most = std::max(tally_->waiting.most, bytes);
  }
}

// The engine cannot go on, so the run ends.
void CrowdLoop::note(const base::Status& status) {
  if (status || failure_) return;
  failure_ = status.error().context;
  shared_.control.stop(End::kFailed);
}

}  // namespace loadgen::crowd
