#include "loadgen/figures/thread_series.h"

#include <algorithm>
#include <iterator>

#include "base/clock.h"

namespace loadgen {

void ThreadSeries::begin(std::int64_t start_ns) {
  const base::Lock lock(mutex_);
  start_ns_ = start_ns;
}

void ThreadSeries::start(std::int64_t moment_ns) {
  ++under_way_;
  const base::Lock lock(mutex_);
  ++at(moment_ns).started;
}

void ThreadSeries::end(std::int64_t moment_ns, std::int64_t response_ns) {
  --under_way_;
  const base::Lock lock(mutex_);
  SecondCounts& second = at(moment_ns);
  ++second.ended;
  second.response_ns.push_back(response_ns);
}

void ThreadSeries::fail(std::int64_t moment_ns) {
  --under_way_;
  const base::Lock lock(mutex_);
  ++at(moment_ns).failed;
}

void ThreadSeries::give_up(std::int64_t moment_ns, std::int64_t response_ns) {
  const base::Lock lock(mutex_);
  at(moment_ns).response_ns.push_back(response_ns);
}

void ThreadSeries::move(std::uint64_t bytes) {
  if (under_way_ <= 0) return;
  const std::int64_t now_ns = base::now_ns();
  const base::Lock lock(mutex_);
  at(now_ns).bytes += bytes;
}

std::deque<SecondCounts> ThreadSeries::take_before(std::size_t end) {
  const base::Lock lock(mutex_);
  std::deque<SecondCounts> taken;
  for (; taken_ < end; ++taken_) {
    if (kept_.empty()) continue;
    taken.push_back(std::move(kept_.front()));
    kept_.pop_front();
  }
  return taken;
}

std::size_t ThreadSeries::seconds() const {
  const base::Lock lock(mutex_);
  return taken_ + kept_.size();
}

SecondCounts& ThreadSeries::at(std::int64_t moment_ns) {
  const std::int64_t since_ns = std::max<std::int64_t>(0, moment_ns - start_ns_);
  const auto second = std::max(taken_, static_cast<std::size_t>(since_ns / base::kNsPerS));
  if (second - taken_ >= kept_.size()) kept_.resize(second - taken_ + 1);
  return kept_[second - taken_];
}

}  // namespace loadgen
