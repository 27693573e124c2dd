#include "loadgen/stalls.h"

#include <fcntl.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cstdio>
#include <utility>

#include "base/clock.h"
#include "base/futex.h"
#include "net/fd.h"

namespace loadgen {

namespace {

constexpr auto kSleepers = base::Sleepers::kOfOneProcess;
constexpr std::int64_t kSleepNs = 10 * base::kNsPerMs;

// For how long a thread was ready to run and had no core, since it started. 0 if the kernel does
// not count it.
std::int64_t run_delay_ns(const net::Fd& statistics) {
  std::array<char, 96> text{};
  if (::pread(statistics.get(), text.data(), text.size() - 1, 0) <= 0) return 0;
  long long running_ns = 0;
  long long delayed_ns = 0;
  return std::sscanf(text.data(), "%lld %lld", &running_ns, &delayed_ns) == 2 ? delayed_ns : 0;
}

}  // namespace

void StallLog::woke(std::int64_t due_ns, std::int64_t now_ns, std::int64_t waited_ns) {
  const std::int64_t stood_ns = now_ns - due_ns - waited_ns;
  if (stood_ns <= kLongestDelayNs) return;
  const base::Lock lock(mutex_);
  stalls_.push_back({due_ns, due_ns + stood_ns});
}

Stalls StallLog::between(std::int64_t from_ns, std::int64_t to_ns) const {
  const base::Lock lock(mutex_);
  Stalls sum;
  for (const Stall& stall : stalls_) {
    const std::int64_t part_ns = std::min(stall.to_ns, to_ns) - std::max(stall.from_ns, from_ns);
    if (part_ns <= kLongestDelayNs) continue;
    ++sum.count;
    sum.longest_ns = std::max(sum.longest_ns, part_ns);
    sum.total_ns += part_ns;
  }
  return sum;
}

StallWatch::StallWatch() : thread_([this] { watch(); }) {
  while (thread_id_.load() == 0) thread_id_.wait(0);
}

StallWatch::~StallWatch() { end(); }

void StallWatch::end() {
  is_over_.store(1);
  base::wake_all<kSleepers>(is_over_);
  if (thread_.joinable()) thread_.join();
}

// A wake-up for no reason only makes the next sleep end 10 ms later.
void StallWatch::watch() {
  thread_id_.store(::gettid());
  thread_id_.notify_all();
  const net::Fd statistics(::open("/proc/thread-self/schedstat", O_RDONLY | O_CLOEXEC));
  std::int64_t waited_ns = run_delay_ns(statistics);
  while (is_over_.load() == 0) {
    const std::int64_t due_ns = base::now_ns() + kSleepNs;
    base::sleep_while<kSleepers>(is_over_, std::uint32_t{0}, due_ns);
    const std::int64_t now_ns = base::now_ns();
    const std::int64_t waited_before_ns = std::exchange(waited_ns, run_delay_ns(statistics));
    log_.woke(due_ns, now_ns, waited_ns - waited_before_ns);
  }
}

}  // namespace loadgen
