#include "loadgen/loops/crowd/crowd.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/host.h"
#include "loadgen/clients/engines/engine.h"
#include "loadgen/cpu.h"
#include "loadgen/figures/units.h"
#include "loadgen/loops/crowd/loop.h"
#include "loadgen/loops/crowd/stability.h"

namespace loadgen::crowd {

namespace {

double seconds(std::int64_t ns) { return seconds_of(static_cast<double>(ns)); }

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
    const double mean = ratio(process_cpu_s() - begun_s_, seconds(now_ns - begun_ns_));
    return {.least_cores = std::min(least_, mean),
            .mean_cores = mean,
            .most_cores = std::max(most_, mean),
            .allowed_cores = base::usable_cores()};
  }

  bool has_begun() const { return begun_ns_ > 0; }
  double begun_for_s(std::int64_t now_ns) const { return seconds(now_ns - begun_ns_); }

 private:
  std::int64_t begun_ns_ = 0;
  double begun_s_ = 0;
  std::int64_t sampled_ns_ = 0;
  double sampled_s_ = 0;
  double least_ = INFINITY;
  double most_ = 0;
};

class CrowdLoad final : public Load {
 public:
  explicit CrowdLoad(const Shared& shared)
      : shared_(shared),
        stability_(shared.config.users, shared.config.crowd.until_stable_ms * base::kNsPerMs) {
    outcome_.asked = shared.config.users;
  }

  std::unique_ptr<Loop> make_loop(int thread) override {
    const Share share{.part = thread, .parts = shared_.config.threads};
    auto loop = std::make_unique<CrowdLoop>(shared_, share);
    loops_.push_back(loop.get());
    return loop;
  }

  int look_every_ms() const override { return 50; }

  std::optional<End> must_end(std::int64_t now_ns) override {
    const bool was_stopped = shared_.control.must_stop();
    outcome_.standing = standing();
    const bool have_all_started = outcome_.standing.started == shared_.config.users;
    whole_.look(now_ns);
    if (have_all_started) steady_.look(now_ns);
    const bool is_stable = stability_.observe(now_ns, outcome_.standing);
    const auto end = end_of(now_ns, is_stable);
    if (!end && !was_stopped) return {};
    outcome_.cpu = (steady_.has_begun() ? steady_ : whole_).samples(now_ns);
    if (steady_.has_begun()) outcome_.steady_s = steady_.begun_for_s(now_ns);
    return end;
  }

  void show(Progress& progress, int second, const Live& /*so_far*/) const override {
    std::uint64_t bytes = 0;
    for (const CrowdLoop* const loop : loops_) bytes += loop->live().bytes.load();
    progress.show(second, standing(), bytes);
  }

  base::Status finish(Figures& figures) override {
    figures.crowd = outcome_;
    std::vector<DropOut>& drop_outs = figures.tally.crowd->drop_outs;
    std::sort(drop_outs.begin(), drop_outs.end(),
              [](const DropOut& one, const DropOut& other) { return one.at_ns < other.at_ns; });
    return base::kDone;
  }

 private:
  std::optional<End> end_of(std::int64_t now_ns, bool is_stable) const {
    const Config& config = shared_.config;
    const Standing& now = outcome_.standing;
    if (config.crowd.too_slow == TooSlow::kFail && now.left < now.started) return End::kFailed;
    if (now.started == config.users && now.left == 0) return End::kFailed;
    if (!ends_by_time(config.crowd)) {
      if (is_stable) return End::kStable;
    } else if (now_ns - shared_.control.window_start_ns >= config.seconds_ms * base::kNsPerMs) {
      return End::kTime;
    }
    return {};
  }

  Standing standing() const {
    Standing all;
    for (const CrowdLoop* const loop : loops_) all.add(loop->live().standing());
    return all;
  }

  const Shared& shared_;
  std::vector<const CrowdLoop*> loops_;  // those of the run
  Stability stability_;
  Outcome outcome_;
  CpuMeter whole_;
  CpuMeter steady_;  // after all users were started
};

}  // namespace

base::Result<std::unique_ptr<Load>> make_load(const Shared& shared) {
  const int signals = shared.config.crowd.signal_queue;
  if (signals > 0) {
    if (auto limited = limit_signal_queue(signals); !limited) return limited.error();
  }
  return std::unique_ptr<Load>(std::make_unique<CrowdLoad>(shared));
}

}  // namespace loadgen::crowd
