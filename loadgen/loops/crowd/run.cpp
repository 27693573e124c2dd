#include "loadgen/loops/crowd/run.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <cmath>
#include <memory>
#include <system_error>
#include <thread>

#include "base/clock.h"
#include "base/host.h"
#include "base/stop_signals.h"
#include "loadgen/clients/engines/engine.h"
#include "loadgen/cpu.h"
#include "loadgen/figures/progress.h"
#include "loadgen/loops/crowd/loop.h"
#include "loadgen/loops/crowd/stability.h"

namespace loadgen::crowd {

namespace {

constexpr int kLookEveryMs = 50;

double seconds(std::int64_t ns) {
  return static_cast<double>(ns) / static_cast<double>(base::kNsPerS);
}

// The cores used, second by second.
class CpuMeter {
 public:
  // Called often; a sample ends when a second has passed.
  void look(std::int64_t now_ns) {
    if (begun_ns_ == 0) {
      begun_ns_ = sampled_ns_ = now_ns;
      begun_s_ = sampled_s_ = process_cpu_s();
    }
    if (now_ns - sampled_ns_ < base::kNsPerS) return;
    const double used_s = process_cpu_s();
    const double cores = (used_s - sampled_s_) / seconds(now_ns - sampled_ns_);
    least_ = std::min(least_, cores);
    most_ = std::max(most_, cores);
    sampled_ns_ = now_ns;
    sampled_s_ = used_s;
  }

  CpuSamples samples(std::int64_t now_ns) const {
    const double over_s = seconds(now_ns - begun_ns_);
    const double mean = over_s > 0 ? (process_cpu_s() - begun_s_) / over_s : 0;
    return {.least_cores = std::min(least_, mean),
            .mean_cores = mean,
            .most_cores = std::max(most_, mean),
            .allowed_cores = base::usable_cores()};
  }

  std::int64_t begun_ns() const { return begun_ns_; }

 private:
  std::int64_t begun_ns_ = 0;
  double begun_s_ = 0;
  std::int64_t sampled_ns_ = 0;
  double sampled_s_ = 0;
  double least_ = INFINITY;
  double most_ = 0;
};

// The main thread's side of a run. It is used for one run only.
class CrowdRun {
 public:
  CrowdRun(const Config& config, const Ready& ready)
      : config_(config),
        signals_(base::open_stop_signals()),
        stability_(config.crowd.users, config.crowd.until_stable_ms * base::kNsPerMs),
        start_ns_(base::now_ns()) {
    result_.start_unix_s = base::unix_time_s();
    result_.threads = threads_of(config);
    result_.sources = ready.sources.count();
    for (const net::SocketAddress& server : ready.servers) result_.servers.push_back(server.text());
    for (int thread = 0; thread < result_.threads; ++thread) {
      loops_.push_back(std::make_unique<Loop>(
          config, ready, Share{.thread = thread, .threads = result_.threads}, start_ns_));
    }
    whole_.look(start_ns_);
  }

  base::Result<CrowdResult> run() {
    if (const auto started = start_threads(); !started) return started.error();
    while (!is_over()) wait();
    const std::int64_t end_ns = base::now_ns();
    const CpuMeter& meter = steady_.begun_ns() > 0 ? steady_ : whole_;
    result_.cpu = meter.samples(end_ns);
    result_.standing = standing();
    join();
    result_.elapsed_s = seconds(end_ns - start_ns_);
    if (steady_.begun_ns() > 0) result_.steady_s = seconds(end_ns - steady_.begun_ns());
    for (const auto& loop : loops_) {
      if (const auto& failure = loop->failure())
        return base::Error{base::ErrorCode::kUnavailable, *failure};
      result_.tally.add(loop->tally());
    }
    std::sort(result_.tally.drop_outs.begin(), result_.tally.drop_outs.end(),
              [](const DropOut& one, const DropOut& other) { return one.at_ns < other.at_ns; });
    return std::move(result_);
  }

 private:
  base::Status start_threads() {
    try {
      for (const auto& loop : loops_) threads_.emplace_back([&loop] { loop->run(); });
    } catch (const std::system_error& failure) {
      join();
      return base::Error{base::ErrorCode::kUnavailable,
                         "a thread could not be started: " + failure.code().message()};
    }
    return base::kDone;
  }

  bool is_over() {
    const Standing now = standing();
    const std::int64_t now_ns = base::now_ns();
    whole_.look(now_ns);
    if (now.started == config_.crowd.users) steady_.look(now_ns);
    const bool is_stable = stability_.observe(now_ns, now);
    const std::optional<End> end = end_of(now, now_ns, is_stable);
    if (end) result_.end = *end;
    return end || has_stopped();
  }

  std::optional<End> end_of(const Standing& now, std::int64_t now_ns, bool is_stable) const {
    if (result_.stop_signal != 0) return End::kSignal;
    if (config_.crowd.too_slow == TooSlow::kFail && now.held < now.started) return End::kTooSlow;
    if (now.started == config_.crowd.users && now.held == 0) return End::kNobodyHolds;
    if (config_.crowd.until_stable_ms > 0) {
      if (is_stable) return End::kStable;
    } else if (now_ns - start_ns_ >= config_.seconds_ms * base::kNsPerMs) {
      return End::kSeconds;
    }
    return {};
  }

  bool has_stopped() const {
    return std::any_of(loops_.begin(), loops_.end(), [](const auto& loop) {
      return loop->live().has_stopped.load(std::memory_order_relaxed);
    });
  }

  Standing standing() const {
    Standing all;
    for (const auto& loop : loops_) {
      const Standing one = loop->live().standing();
      all.started += one.started;
      all.held += one.held;
      all.without_fetch += one.without_fetch;
    }
    return all;
  }

  void wait() {
    pollfd waiting{signals_.get(), POLLIN, 0};
    if (::poll(&waiting, 1, kLookEveryMs) <= 0) return;
    signalfd_siginfo signal{};
    if (::read(signals_.get(), &signal, sizeof signal) != sizeof signal) return;
    result_.stop_signal = static_cast<int>(signal.ssi_signo);
    base::release_stop_signals();
  }

  void join() {
    for (const auto& loop : loops_) loop->stop();
    for (std::thread& thread : threads_) thread.join();
  }

  const Config& config_;
  const net::Fd signals_;
  Stability stability_;
  const std::int64_t start_ns_;
  CrowdResult result_;
  std::vector<std::unique_ptr<Loop>> loops_;
  std::vector<std::thread> threads_;
  CpuMeter whole_;
  CpuMeter steady_;  // after all users were started
};

}  // namespace

int threads_of(const Config& config) {
  const int wanted =
      config.crowd.has_threads ? config.threads : static_cast<int>(std::ceil(base::usable_cores()));
  return std::clamp(wanted, 1, config.crowd.users);
}

base::Result<CrowdResult> run(const Config& config, const Ready& ready) {
  if (config.crowd.signal_queue > 0) {
    if (auto limited = limit_signal_queue(config.crowd.signal_queue); !limited)
      return limited.error();
  }
  return CrowdRun(config, ready).run();
}

}  // namespace loadgen::crowd
