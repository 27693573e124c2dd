#include "loadgen/run.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <memory>
#include <optional>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/host.h"
#include "base/stop_signals.h"
#include "loadgen/figures/progress.h"
#include "loadgen/figures/transfer_file.h"
#include "loadgen/loops/burst/hold.h"
#include "loadgen/loops/burst/loop.h"
#include "loadgen/loops/closed.h"
#include "loadgen/loops/open.h"

namespace loadgen {

namespace {

// The main thread's side of a run. It is used for one run only.
class Run {
 public:
  // `transfers` is null if they are not recorded, `hold` if no server is held.
  Run(const Config& config, const Ready& ready, TransferFile* transfers, burst::Hold* hold)
      : config_(config),
        transfers_(transfers),
        hold_(hold),
        signals_(base::open_stop_signals()),
        control_(config.threads),
        new_accounts_(random_word()) {
    result_.sources = ready.sources.count();
    for (const net::SocketAddress& server : ready.servers) result_.servers.push_back(server.text());
    if (is_open_loop(config)) {
      schedule_.emplace(config.rate_rps, config.arrivals, static_cast<std::uint64_t>(config.seed));
    }
    if (is_burst(config)) {
      const int rounds =
          config.asks_once ? std::min(config.requests, config.unique) : config.requests;
      rounds_.emplace(
          config.threads, rounds, [this] { return control_.must_stop(); }, holding());
    }
    for (int thread = 0; thread < config.threads; ++thread) {
      loops_.push_back(make_loop(ready, thread));
    }
  }

  base::Result<RunResult> run() {
    if (const auto started = start_threads(); !started) return started.error();
    wait_for_all();
    if (!schedule_) warm_up();
    begin_window();
    watch_window();
    control_.end_gate.count_down();
    join();
    for (const auto& loop : loops_) {
      if (const auto& failure = loop->save_failure())
        return base::Error{base::ErrorCode::kInternal, *failure};
    }
    if (!held_) return held_.error();
    if (transfers_ != nullptr) {
      if (auto written = transfers_->finish(); !written) return written.error();
    }
    for (const auto& loop : loops_) result_.tally.add(loop->recorder().tally());
    if (rounds_) result_.rounds = rounds_->ended();
    result_.tally.elapsed_ns = elapsed_ns();
    result_.cpu = cpu_use();
    result_.warning = tracking_warning(connection_tracking());
    return std::move(result_);
  }

 private:
  std::unique_ptr<Loop> make_loop(const Ready& ready, int thread) {
    const Shared shared{config_, ready.servers, ready.sources, new_accounts_, transfers_};
    if (schedule_) return std::make_unique<OpenLoop>(*schedule_, shared, thread);
    if (rounds_) return std::make_unique<burst::Loop>(*rounds_, shared, thread);
    return std::make_unique<ClosedLoop>(shared, thread);
  }

  burst::Holding holding() {
    if (hold_ == nullptr) return {};
    return {[this] { note_hold(hold_->freeze()); }, [this] { note_hold(hold_->thaw()); }};
  }

  // A thread calls this while all others wait.
  void note_hold(const base::Status& done) {
    if (done || !held_) return;
    held_ = done;
    control_.stop();
  }

  base::Status start_threads() {
    try {
      for (const auto& loop : loops_) threads_.emplace_back([&loop, this] { loop->run(control_); });
    } catch (const std::system_error& failure) {
      control_.stop();
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
    std::int64_t read_ns = 0;
    double used_s = 0;
    double delay_s = 0;
  };
  static CpuTime cpu_time() { return {base::now_ns(), process_cpu_s(), threads_run_delay_s()}; }

  // Requires: the tallies were added up.
  CpuUse cpu_use() const {
    const Tally& tally = result_.tally;
    const double over_s = seconds_of(static_cast<double>(cpu_after_.read_ns - cpu_before_.read_ns));
    const double elapsed_s = seconds_of(static_cast<double>(tally.elapsed_ns));
    CpuUse use{.allowed_cores = base::usable_cores()};
    if (over_s <= 0) return use;
    use.used_cores = (cpu_after_.used_s - cpu_before_.used_s) / over_s;
    const std::uint64_t requests =
        tally.open ? tally.open->in_window : tally.succeeded() + tally.errors_total();
    if (requests > 0) {
      use.us_per_request = use.used_cores * elapsed_s * 1e6 / static_cast<double>(requests);
    }
    use.run_delay_share = (cpu_after_.delay_s - cpu_before_.delay_s) / (over_s * config_.threads);
    return use;
  }

  // The length of the measured window. A run by time ends for each thread of a closed loop with its
  // last request that counts. With their mean, requests / elapsed is the sum of the threads' rates
  // if requests take long: none is cut off, and no thread is idle at the end. Requires: the tallies
  // were added up.
  std::int64_t elapsed_ns() const {
    if (schedule_) return std::max<std::int64_t>(0, control_.end_ns() - control_.window_start_ns);
    const Tally& tally = result_.tally;
    if (ends_by_number(config_)) return tally.elapsed_ns;
    return static_cast<std::int64_t>(tally.active_ns) / config_.threads;
  }

  // An open loop has its warm-up within the same phase.
  void begin_window() {
    const std::int64_t now_ns = base::now_ns();
    const std::int64_t before_ns = schedule_ ? config_.warmup_ms * base::kNsPerMs : 0;
    control_.warmup_start_ns = now_ns;
    control_.window_start_ns = now_ns + before_ns;
    control_.window_end_ns = ends_by_number(config_)
                                 ? INT64_MAX
                                 : control_.window_start_ns + config_.seconds_ms * base::kNsPerMs;
    if (before_ns == 0) note_start();
    control_.window_gate.count_down();
    if (before_ns == 0) return;
    while (base::now_ns() < control_.window_start_ns && !control_.must_stop())
      arrived_ += wait_until(control_.window_start_ns);
    note_start();
  }

  // The main thread may be late on a busy machine, but the window is not.
  void note_start() {
    cpu_before_ = cpu_time();
    const std::int64_t late_ns = base::now_ns() - control_.window_start_ns;
    const double start_s = base::unix_time_s() - seconds_of(static_cast<double>(late_ns));
    result_.start_unix_s = std::round(start_s * 1e6) / 1e6;  // so that all reports print the same
    if (transfers_ != nullptr &&
        !transfers_->begin(control_.window_start_ns, result_.start_unix_s)) {
      control_.stop();
    }
  }

  // Shows the progress once a second until all threads have arrived, and reads the CPU time at the
  // end of the window. Nothing else is measured here; each thread reads the clock itself and
  // decides when the window ends.
  void watch_window() {
    Progress progress;
    bool is_over = false;
    for (int second = 1; arrived_ < config_.threads;) {
      const std::int64_t next_ns = control_.window_start_ns + second * base::kNsPerS;
      arrived_ += wait_until(is_over ? next_ns : std::min(next_ns, control_.end_ns()));
      if (!is_over && base::now_ns() >= control_.end_ns()) {
        is_over = true;
        cpu_after_ = cpu_time();
      }
      if (base::now_ns() < next_ns) continue;
      progress.show(second, live());
      ++second;
    }
    if (!is_over) cpu_after_ = cpu_time();
  }

  void wait_for_all() {
    for (int arrived = 0; arrived < config_.threads;) arrived += wait(kNoTimeLimit);
  }

  int wait_until(std::int64_t moment_ns) {
    const std::int64_t left_ms = (moment_ns - base::now_ns()) / base::kNsPerMs + 1;
    return wait(static_cast<int>(std::clamp<std::int64_t>(left_ms, 0, 60'000)));
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
    control_.stop();
    base::release_stop_signals();
  }

  Live live() const {
    Live all;
    for (const auto& loop : loops_) {
      const Live one = loop->recorder().live();
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
  TransferFile* const transfers_;
  burst::Hold* const hold_;
  const net::Fd signals_;
  RunResult result_;
  RunControl control_;
  NewAccounts new_accounts_;
  std::optional<Schedule> schedule_;     // of an open loop
  std::optional<burst::Rounds> rounds_;  // of a burst
  base::Status held_ = base::kDone;      // whether the server could be held in each of them
  std::vector<std::unique_ptr<Loop>> loops_;
  std::vector<std::thread> threads_;
  int arrived_ = 0;  // threads whose requests have ended
  CpuTime cpu_before_;
  CpuTime cpu_after_;
};

}  // namespace

base::Result<RunResult> run(const Config& config, const Ready& ready) {
  const auto transfers = TransferFile::open(config.transfers);
  if (!transfers) return transfers.error();
  std::optional<burst::Hold> hold;
  if (!config.hold.empty()) {
    auto opened = burst::Hold::of_group(config.hold);
    if (!opened) return opened.error();
    hold.emplace(std::move(*opened));
  }
  return Run(config, ready, transfers->get(), hold ? &*hold : nullptr).run();
}

}  // namespace loadgen
