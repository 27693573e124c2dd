#include "loadgen/run.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <list>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/host.h"
#include "base/stop_signals.h"
#include "loadgen/closed_loop.h"
#include "loadgen/progress.h"

namespace loadgen {

namespace {

// The main thread's side of a run. It is used for one run only.
class Run {
 public:
  Run(const Config& config, const Ready& ready)
      : config_(config), signals_(base::open_stop_signals()), new_accounts_(random_word()) {
    result_.sources = ready.sources.count();
    for (const net::SocketAddress& server : ready.servers) result_.servers.push_back(server.text());
    for (int thread = 0; thread < config.threads; ++thread) {
      loops_.emplace_back(config, ready.servers, ready.sources, new_accounts_, thread);
    }
  }

  base::Result<RunResult> run() {
    if (const auto started = start_threads(); !started) return started.error();
    wait_for_all();
    warm_up();
    const CpuTime before = begin_window();
    watch_window();
    const CpuTime after = cpu_time();
    control_.end_gate.count_down();
    join();
    for (const ClosedLoop& loop : loops_) {
      if (const auto& failure = loop.save_failure())
        return base::Error{base::ErrorCode::kInternal, *failure};
    }
    for (const ClosedLoop& loop : loops_) result_.tally.add(loop.recorder().tally());
    result_.cpu = cpu_use(before, after);
    result_.warning = tracking_warning(connection_tracking());
    return std::move(result_);
  }

 private:
  base::Status start_threads() {
    try {
      for (ClosedLoop& loop : loops_) threads_.emplace_back([&loop, this] { loop.run(control_); });
    } catch (const std::system_error& failure) {
      control_.must_stop = true;
      control_.warmup_gate.count_down();
      control_.window_gate.count_down();
      control_.end_gate.count_down();
      const auto started = std::to_string(threads_.size());
      join();
      return base::Error{base::ErrorCode::kUnavailable,
                         "thread " + started +
                             " could not be started: " + failure.code().message() +
                             "; use fewer threads, or raise the limit (ulimit -u)"};
    }
    return base::kDone;
  }

  void warm_up() {
    if (config_.warmup_ms == 0) return;
    control_.warmup_end_ns = base::now_ns() + config_.warmup_ms * base::kNsPerMs;
    control_.warmup_gate.count_down();
    wait_for_all();
  }

  // Of all threads, since they started.
  struct CpuTime {
    double used_s = 0;
    double delay_s = 0;
  };
  static CpuTime cpu_time() { return {process_cpu_s(), threads_run_delay_s()}; }

  // Requires: the tallies were added up.
  CpuUse cpu_use(const CpuTime& before, const CpuTime& after) const {
    const double elapsed_s = seconds_of(static_cast<double>(result_.tally.elapsed_ns));
    CpuUse use{.allowed_cores = base::usable_cores()};
    if (elapsed_s <= 0) return use;
    const double used_s = after.used_s - before.used_s;
    const std::uint64_t requests = result_.tally.response_ns.count() + result_.tally.errors_total();
    use.used_cores = used_s / elapsed_s;
    if (requests > 0) use.us_per_request = used_s * 1e6 / static_cast<double>(requests);
    use.run_delay_share = (after.delay_s - before.delay_s) / (elapsed_s * config_.threads);
    return use;
  }

  // Starts the measured window. Returns the CPU time of what was before it.
  CpuTime begin_window() {
    const CpuTime before = cpu_time();
    result_.start_unix_s = base::unix_time_s();
    control_.window_start_ns = base::now_ns();
    control_.window_end_ns = control_.window_start_ns + config_.seconds_ms * base::kNsPerMs;
    control_.window_gate.count_down();
    return before;
  }

  // Shows the progress once a second until all threads have arrived. Nothing is measured here; each
  // thread reads the clock itself and decides when the window ends.
  void watch_window() {
    Progress progress;
    int arrived = 0;
    for (int second = 1; arrived < config_.threads;) {
      const std::int64_t next_ns = control_.window_start_ns + second * base::kNsPerS;
      const auto left_ms = static_cast<int>((next_ns - base::now_ns()) / base::kNsPerMs) + 1;
      arrived += wait(std::max(left_ms, 0));  // do not wait if it is late already
      if (base::now_ns() < next_ns) continue;
      progress.show(second, live());
      ++second;
    }
  }

  void wait_for_all() {
    for (int arrived = 0; arrived < config_.threads;) arrived += wait(kNoTimeLimit);
  }

  static constexpr int kNoTimeLimit = -1;  // of poll()

  // Waits until a thread arrives or a signal comes, for `at_most_ms`. Returns how many threads have
  // arrived, which may be 0.
  int wait(int at_most_ms) {
    std::array<pollfd, 2> waiting{
        {{control_.arrivals.fd(), POLLIN, 0}, {signals_.get(), POLLIN, 0}}};
    if (::poll(waiting.data(), waiting.size(), at_most_ms) <= 0) return 0;
    if (waiting[1].revents != 0) stop_early();
    return waiting[0].revents != 0 ? control_.arrivals.take() : 0;
  }

  // Lets the threads finish the requests under way. A second signal is no longer blocked and ends
  // the program at once.
  void stop_early() {
    signalfd_siginfo signal{};
    if (::read(signals_.get(), &signal, sizeof signal) != sizeof signal) return;
    result_.stop_signal = static_cast<int>(signal.ssi_signo);
    control_.must_stop = true;
    base::release_stop_signals();
  }

  Live live() const {
    Live all;
    for (const ClosedLoop& loop : loops_) {
      const Live one = loop.recorder().live();
      all.requests += one.requests;
      all.errors += one.errors;
      all.response_ns += one.response_ns;
    }
    return all;
  }

  void join() {
    for (std::thread& thread : threads_) thread.join();
  }

  const Config& config_;
  const net::Fd signals_;
  RunResult result_;
  RunControl control_;
  NewAccounts new_accounts_;
  std::list<ClosedLoop> loops_;
  std::vector<std::thread> threads_;
};

}  // namespace

base::Result<RunResult> run(const Config& config, const Ready& ready) {
  return Run(config, ready).run();
}

}  // namespace loadgen
