#include "loadgen/run.h"

#include <algorithm>
#include <cmath>
#include <memory>
#include <optional>
#include <random>
#include <string>
#include <system_error>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "loadgen/clients/workload.h"
#include "loadgen/config/ramp.h"
#include "loadgen/cpu.h"
#include "loadgen/figures/own_faults.h"
#include "loadgen/figures/progress.h"
#include "loadgen/figures/series_file.h"
#include "loadgen/figures/transfer_file.h"
#include "loadgen/figures/units.h"
#include "loadgen/host.h"
#include "loadgen/loops/load.h"
#include "loadgen/outlook.h"
#include "loadgen/run_control.h"
#include "loadgen/second_count.h"
#include "loadgen/stalls.h"
#include "loadgen/watch.h"

namespace loadgen {

namespace {

// The main thread's side of a run. It is used for one run only.
class Run {
 public:
  Run(const Shared& shared, Load& load)
      : config_(shared.config),
        control_(shared.control),
        transfers_(shared.transfers),
        series_(shared.series),
        load_(load),
        second_count_(shared.config),
        watch_(shared.control, [this] { return look(); }) {
    figures_.sources = shared.ready.sources.count();
    for (const net::SocketAddress& server : shared.ready.servers)
      figures_.servers.push_back(server.text());
    for (int thread = 0; thread < config_.threads; ++thread)
      loops_.push_back(load_.make_loop(thread));
    if (series_ == nullptr) return;
    for (const auto& loop : loops_) series_->add(*loop->recorder().series());
  }

  base::Result<Figures> run() {
    wait_for_start(kMostStartingS + testers_of(config_) * kMostStartingOneS);
    if (auto counted = second_count_.begin(); !counted) return counted.error();
    if (const auto started = start_threads(); !started) return started.error();
    watch_.wait_for(config_.threads);
    begin_on_time();
    if (!is_open_loop(config_)) warm_up();
    begin_window();
    watch_window();
    control_.end_gate.count_down();
    join();
    if (const auto finished = finish(); !finished) return finished.error();
    return std::move(figures_);
  }

 private:
  // Starting the threads and connecting takes about as long; and a server does not wait for ever
  // for the first request on a connection.
  static constexpr double kMostStartingS = 2;
  static constexpr double kMostStartingOneS = 0.001;  // for each thread or user more

  // The threads of a ramp are let go so long before --start-at, and sleep until it is their turn.
  // So where many testers share a few cores, their starts do not queue behind those of threads.
  static constexpr double kRampBeforeS = 0.5;

  // While they sleep the CPU time is read. It takes dozens of system calls, for which other testers
  // would have to wait in the moment in which all begin.
  static constexpr std::int64_t kCpuBeforeNs = 200 * base::kNsPerMs;

  // Waits until so long before --start-at, or for a signal. The clock may be set meanwhile.
  void wait_for_start(double before_s) {
    while (!control_.must_stop()) {
      const double left_s = config_.start_at_unix_s - before_s - base::unix_time_s();
      if (left_s <= 0) return;
      watch_.wait_until(base::now_ns() + static_cast<std::int64_t>(std::min(left_s, 1.0) * 1e9));
    }
  }

  void begin_on_time() {
    if (config_.start_at_unix_s == 0) return;
    wait_for_start(is_ramp(config_) ? kRampBeforeS : 0);
    if (!is_ramp(config_)) note_lateness();
  }

  void note_lateness() {
    if (config_.start_at_unix_s != 0 && !control_.must_stop())
      figures_.start_late_s = std::max(0.0, base::unix_time_s() - config_.start_at_unix_s);
  }

  // How long after now the window begins. An open loop has its warm-up within the same phase.
  std::int64_t before_window_ns() const {
    if (is_open_loop(config_)) return config_.warmup_ms * base::kNsPerMs;
    if (!is_ramp(config_) || config_.start_at_unix_s == 0) return 0;
    const double left_s = config_.start_at_unix_s - base::unix_time_s();
    return static_cast<std::int64_t>(std::max(0.0, left_s) * 1e9);
  }

  base::Status start_threads() {
    try {
      stall_watch_.emplace();
      for (const auto& loop : loops_) threads_.emplace_back([&loop, this] { loop->run(control_); });
    } catch (const std::system_error& failure) {
      control_.stop(End::kFailed);
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

  // Requires: the threads were joined.
  base::Status finish() {
    for (const auto& loop : loops_) {
      if (auto failure = loop->failure())
        return base::Error{base::ErrorCode::kUnavailable, std::move(*failure)};
      figures_.tally.add(loop->recorder().tally());
    }
    figures_.stop_signal = watch_.stop_signal();
    figures_.end = end();
    if (auto finished = load_.finish(figures_); !finished) return finished;
    second_count_.finish(figures_);
    if (transfers_ != nullptr) {
      if (auto written = transfers_->finish(); !written) return written;
    }
    if (series_ != nullptr) {
      if (auto written = series_->finish(); !written) return written;
    }
    figures_.tally.elapsed_ns = elapsed_ns();
    figures_.has_halves = !control_.must_stop() && !makes_given_accounts(config_);
    if (is_ramp(config_)) figures_.plateau = plateau();
    figures_.cpu = use_of_cpu();
    figures_.warning = tracking_warning(connection_tracking());
    return base::kDone;
  }

  // A signal may come when the run has already been stopped.
  End end() const {
    if (figures_.stop_signal != 0) return End::kSignal;
    return control_.why_stopped().value_or(ends_by_number(config_) ? End::kRequests : End::kTime);
  }

  void warm_up() {
    if (config_.warmup_ms == 0) return;
    outlook_.begin(base::now_ns());
    control_.warmup_end_ns = base::now_ns() + config_.warmup_ms * base::kNsPerMs;
    control_.warmup_gate.count_down();
    watch_.wait_for(config_.threads);
  }

  // Requires: the tallies were added up.
  CpuUse use_of_cpu() const {
    const Tally& tally = figures_.tally;
    const std::uint64_t requests = tally.open ? tally.open->answered + tally.open->failed
                                              : tally.succeeded() + tally.errors_total();
    const double elapsed_s = seconds_of(static_cast<double>(tally.elapsed_ns));
    CpuUse use = cpu_use(cpu_before_, cpu_after_, elapsed_s, requests, config_.threads);
    if (has_users(config_)) {  // all users of a thread that waits for a core wait
      use.run_delay_ms_per_request =
          use.run_delay_share * ms_of(tally.response_ns.mean()) + overslept_ms(tally);
    }
    return use;
  }

  // The length of the measured window. A run by time ends for each thread of a closed loop with its
  // last request that counts. With their mean, requests / elapsed is the sum of the threads' rates
  // if requests take long: none is cut off, and no thread is idle at the end. Requires: the tallies
  // were added up.
  std::int64_t elapsed_ns() const {
    if (is_open_loop(config_) || is_crowd(config_))
      return std::max<std::int64_t>(0, control_.end_ns() - control_.window_start_ns);
    const Tally& tally = figures_.tally;
    if (ends_by_number(config_) || is_ramp(config_)) return tally.elapsed_ns;
    return static_cast<std::int64_t>(tally.active_ns) / testers_of(config_);
  }

  void begin_window() {
    const std::int64_t now_ns = base::now_ns();
    const std::int64_t before_ns = before_window_ns();
    if (config_.warmup_ms == 0 || is_open_loop(config_)) outlook_.begin(now_ns);
    control_.warmup_start_ns = now_ns;
    control_.window_start_ns = now_ns + before_ns;
    control_.window_end_ns = ends_by_number(config_) || is_crowd(config_)
                                 ? INT64_MAX
                                 : control_.window_start_ns + length_ns();
    note_start();
    control_.window_gate.count_down();
    watch_.sleep_until(control_.window_start_ns - (is_ramp(config_) ? kCpuBeforeNs : 0));
    cpu_before_ = cpu_time(stall_watch_->thread_id());
    watch_.sleep_until(control_.window_start_ns);
    cpu_before_.read_ns = std::max(cpu_before_.read_ns, control_.window_start_ns);
    if (is_ramp(config_)) note_lateness();
  }

  // Of a run that ends by time.
  std::int64_t length_ns() const {
    return is_ramp(config_) ? Ramp(config_).last_end_ns() : config_.seconds_ms * base::kNsPerMs;
  }

  // After a stop, not all threads run any more.
  PlateauTime plateau() const {
    const Ramp ramp(config_);
    const std::int64_t stopped_ns = control_.end_ns() - control_.window_start_ns;
    const std::int64_t end_ns = std::min(ramp.plateau_end_ns(), stopped_ns);
    return {.start_ns = ramp.plateau_start_ns(),
            .elapsed_ns = std::max<std::int64_t>(0, end_ns - ramp.plateau_start_ns())};
  }

  // Before any thread begins. The window may be in the future then.
  void note_start() {
    const std::int64_t since_ns = base::now_ns() - control_.window_start_ns;
    const double start_s = base::unix_time_s() - seconds_of(static_cast<double>(since_ns));
    figures_.start_unix_s = std::round(start_s * 1e6) / 1e6;  // so that all reports print the same
    if (transfers_ != nullptr &&
        !transfers_->begin(control_.window_start_ns, figures_.start_unix_s)) {
      control_.stop(End::kFailed);
    }
  }

  // Shows the progress once a second until all threads have arrived, and reads the CPU time at the
  // end of the window. Nothing else is measured here; each thread reads the clock itself. In most
  // kinds of run it also decides itself when the window ends.
  void watch_window() {
    bool is_over = false;
    for (int second = 1; watch_.arrived() < config_.threads;) {
      const std::int64_t next_ns = control_.window_start_ns + second * base::kNsPerS;
      watch_.wait_until(is_over ? next_ns : std::min(next_ns, next_look_ns()));
      if (!is_over) {
        if (const auto why = load_.must_end(base::now_ns())) control_.stop(*why);
      }
      if (!is_over && base::now_ns() >= control_.end_ns()) {
        is_over = true;
        cpu_after_ = cpu_time(stall_watch_->thread_id());
      }
      if (base::now_ns() < next_ns) continue;
      load_.show(progress_, second, live());
      write_series();
      ++second;
    }
    if (!is_over) cpu_after_ = cpu_time(stall_watch_->thread_id());
    // In the warm-up of an open loop, a stall leaves requests behind that the window has to bear.
    stall_watch_->end();
    figures_.stalls = stall_watch_->between(control_.warmup_start_ns, base::now_ns());
  }

  // The seconds that are over.
  void write_series() {
    if (series_ == nullptr) return;
    const std::int64_t since_ns = base::now_ns() - control_.window_start_ns;
    if (!series_->write_before(static_cast<std::size_t>(since_ns / base::kNsPerS)))
      control_.stop(End::kFailed);
  }

  std::int64_t next_look_ns() const {
    const int every_ms = load_.look_every_ms();
    const std::int64_t look_ns =
        every_ms == 0 ? INT64_MAX : base::now_ns() + every_ms * base::kNsPerMs;
    return std::min(look_ns, control_.end_ns());
  }

  // Adding up thousands of threads takes a while.
  static constexpr std::int64_t kLookEveryNs = 50 * base::kNsPerMs;

  // Called before each wait. Returns how many milliseconds it may take at most.
  int look() {
    const std::int64_t now_ns = base::now_ns();
    if (watch_.stop_signal() != 0) outlook_.note_signal(now_ns);
    if (now_ns >= next_look_ns_) look_at_all(now_ns);
    return static_cast<int>((next_look_ns_ - now_ns) / base::kNsPerMs + 1);
  }

  void look_at_all(std::int64_t now_ns) {
    next_look_ns_ = now_ns + kLookEveryNs + draw_(chance_);
    const Live all = live();
    if (now_ns >= control_.window_start_ns && now_ns < control_.end_ns()) {
      figures_.under_way.add(all.under_way);
      figures_.silence.look(now_ns, all.requests + all.errors);
    }
    if (const auto cause = outlook_.hopeless(now_ns, all); cause && !control_.must_stop()) {
      figures_.hopeless = cause;
      control_.stop(End::kFailed);
    }
    const std::string line = outlook_.tell(now_ns, all);
    if (!line.empty()) progress_.tell(line);
  }

  Live live() const {
    Live all;
    for (const auto& loop : loops_) all.add(loop->recorder().live());
    return all;
  }

  void join() {
    for (std::thread& thread : threads_) thread.join();
  }

  const Config& config_;
  RunControl& control_;
  TransferFile* const transfers_;
  SeriesFile* const series_;
  Load& load_;
  SecondCount second_count_;
  Watch watch_;
  Figures figures_;
  Outlook outlook_;
  std::int64_t next_look_ns_ = 0;
  std::minstd_rand chance_;
  std::uniform_int_distribution<std::int64_t> draw_{0, kLookEveryNs};
  Progress progress_;
  std::optional<StallWatch> stall_watch_;  // while there are threads
  std::vector<std::unique_ptr<Loop>> loops_;
  std::vector<std::thread> threads_;
  CpuTime cpu_before_;
  CpuTime cpu_after_;
};

}  // namespace

base::Result<Figures> run(const Config& config, const Ready& ready) {
  const auto transfers = TransferFile::open(config.transfers);
  if (!transfers) return transfers.error();
  const auto series = SeriesFile::open(config.series);
  if (!series) return series.error();
  RunControl control(config.threads);
  NewAccounts new_accounts(random_word());
  const Shared shared{config, ready, control, new_accounts, transfers->get(), series->get()};
  const auto load = make_load(shared);
  if (!load) return load.error();
  return Run(shared, **load).run();
}

}  // namespace loadgen
