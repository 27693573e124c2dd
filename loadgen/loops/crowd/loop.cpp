#include "loadgen/loops/crowd/loop.h"

#include <algorithm>
#include <system_error>

#include "base/clock.h"
#include "net/socket_io.h"

namespace loadgen::crowd {

namespace {

constexpr std::int64_t kMostWaitMs = 100;  // so that the end of the run is noticed
constexpr std::uint32_t kSampledAtOnce = 64;

std::size_t most_at_once(const Config& config) {
  return static_cast<std::size_t>(std::max<std::int64_t>(1, config.crowd.receive_buffer_bytes));
}

}  // namespace

Standing LiveCounts::standing() const {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  Standing now{.started = started.load(kRelaxed)};
  now.left = now.started - dropped.load(kRelaxed);
  now.without_fetch = now.left - fetched.load(kRelaxed);
  return now;
}

CrowdLoop::CrowdLoop(const Shared& shared, Share share)
    : Loop(shared.config),
      shared_(shared),
      config_(shared.config),
      share_(share),
      pace_(config_.crowd.pace_bytes_s, config_.crowd.least_rate_percent, most_at_once(config_)),
      users_(static_cast<std::size_t>(share.count_of(config_.users))),
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
  for (const User& user : users_) {
    if (user.phase == Phase::kGone) continue;
    if (user.fetches > 0) tally_->rate_errors.push_back(user.worst_error);
    if (user.phase >= Phase::kAsking) ++tally_->broken_off;
  }
  users_.clear();
  engine_.reset();
}

void CrowdLoop::serve() {
  for (std::uint32_t user = 0; user < users_.size(); ++user) {
    const std::int64_t part_ms = config_.crowd.ramp_ms * share_.number_of(user) / config_.users;
    wait_until(user, start_ns_ + part_ms * base::kNsPerMs);
  }
  while (!shared_.control.must_stop()) {
    deal_with_due();
    if (base::now_ns() >= next_sample_ns_) sample_waiting_bytes();
    deal_with_arrived();
  }
}

// Those whose timers are due.
void CrowdLoop::deal_with_due() {
  turn_.clear();
  turn_due_ns_ = moment_of(wheel_.next_tick());
  wheel_.take_due((base::now_ns() - start_ns_) / base::kNsPerMs, turn_);
  for (const std::uint32_t user : turn_) deal_with(user);
}

// Those for whom bytes have arrived. A stall within the wait is one of each fetch that goes on,
// also if nobody is reported behind it: a signal to go on ends the wait.
void CrowdLoop::deal_with_arrived() {
  turn_.clear();
  const std::int64_t began_ns = base::now_ns();
  const std::int64_t left_ms = wheel_.next_tick() - (began_ns - start_ns_) / base::kNsPerMs;
  const auto wait_ms = std::clamp<std::int64_t>(left_ms, 0, kMostWaitMs);
  note(engine_->wait(wait_ms * base::kNsPerMs, turn_));
  ++tally_->wakeups;
  const std::int64_t waited_ns = base::now_ns();
  turn_due_ns_ = std::min(waited_ns, began_ns + wait_ms * base::kNsPerMs);
  lateness_.note(waited_ns, waited_ns - turn_due_ns_);
  for (const std::uint32_t number : turn_)
    deal_with(number % static_cast<std::uint32_t>(users_.size()));
}

void CrowdLoop::deal_with(std::uint32_t user) {
  now_ns_ = base::now_ns();
  late_ns_ = std::max<std::int64_t>(0, now_ns_ - turn_due_ns_);
  User& one = users_[user];
  if (one.phase != Phase::kBeforeStart && one.phase != Phase::kGone) {
    tally_->most_late_ns = std::max(tally_->most_late_ns, late_ns_);
    lateness_.note(now_ns_, late_ns_);
    if (one.phase == Phase::kReading) look_back_to(one.asked_ns);
    if (is_late_with(one)) spare(one);
    if (now_ns_ > one.limit_ns && !has_come(one)) return run_out_of_time(user);
  }
  switch (one.phase) {
    case Phase::kBeforeStart: return connect(user);
    case Phase::kConnecting:
    case Phase::kConnectingData: return finish_connecting(user);
    case Phase::kAsking:
    case Phase::kEnding: return go_on_asking(user);
    case Phase::kReading: return read(user);
    case Phase::kGone: return;
  }
}

// A stall was none of this turn perhaps, but of the same fetch.
void CrowdLoop::look_back_to(std::int64_t moment_ns) {
  late_ns_ = std::max(late_ns_, lateness_.most_since_ns(moment_ns));
  tally_->most_late_ns = std::max(tally_->most_late_ns, late_ns_);
}

// Whether loadgen itself is so late that it may have made the user slow.
bool CrowdLoop::is_late_with(const User& one) const {
  return is_too_late(late_ns_, one.phase == Phase::kReading ? pace_.slack_ns(one.size_bytes)
                                                            : config_.timeout_ms * base::kNsPerMs);
}

// The server may have had no chance meanwhile, so the user gets that time again; and once more,
// because a sender that found the receive buffer full asks less and less often whether there is
// room: it may notice only after as long again. In a fetch only what is more than before counts, so
// that a loadgen that is always late comes to an end.
void CrowdLoop::spare(User& one) const {
  if (late_ns_ <= one.spared_ns) return;
  one.spared_ns = late_ns_;
  one.limit_ns = std::max(one.limit_ns, now_ns_) + 2 * late_ns_;
}

// What a stall has done to a connection may outlast the fetch: the receive window of a buffer that
// was full for long opens slowly. So later fetches have more time too. The run is invalid then.
std::int64_t CrowdLoop::aftermath_ns(const User& one) const {
  const std::int64_t late_ns = tally_->most_late_ns;
  return is_too_late(late_ns, pace_.slack_ns(one.size_bytes)) ? 2 * late_ns : 0;
}

// Whether what the user waits for has come, and has only not been looked at yet.
bool CrowdLoop::has_come(const User& one) const {
  const auto is_ready = [](const net::Fd& fd, short events) {
    pollfd waiting{fd.get(), events, 0};
    return ::poll(&waiting, 1, 0) > 0;
  };
  switch (one.phase) {
    case Phase::kConnecting: return is_ready(one.fd, POLLOUT);
    case Phase::kConnectingData: return is_ready(one.data_fd, POLLOUT);
    case Phase::kAsking:
    case Phase::kEnding: return is_ready(one.fd, POLLIN);
    case Phase::kReading:
      return one.got_bytes + static_cast<std::uint64_t>(net::unread_bytes(one.file_fd().get())) >=
             one.size_bytes;
    case Phase::kBeforeStart:
    case Phase::kGone: break;
  }
  return false;
}

void CrowdLoop::run_out_of_time(std::uint32_t user) {
  if (tally_->is_too_narrow()) return;
  const User& one = users_[user];
  if (is_late_with(one)) ++tally_->late_drops;
  drop(user, one.phase == Phase::kReading ? Fault::kTooSlow : Fault::kTimeout);
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

std::int64_t CrowdLoop::moment_of(std::int64_t tick) const {
  return tick == INT64_MAX ? INT64_MAX : start_ns_ + tick * base::kNsPerMs;
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
