#include "loadgen/run_control.h"

#include <sys/eventfd.h>
#include <unistd.h>

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <system_error>

#include "base/clock.h"
#include "base/futex.h"

namespace loadgen {

Arrivals::Arrivals() : fd_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  if (!fd_.is_open()) throw std::system_error(errno, std::generic_category(), "eventfd");
}

void Arrivals::arrive() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(fd_.get(), &one, sizeof one);
  assert(written == sizeof one);
}

int Arrivals::take() {
  std::uint64_t count = 0;
  return ::read(fd_.get(), &count, sizeof count) == sizeof count ? static_cast<int>(count) : 0;
}

void RunControl::stop(End why) {
  std::int64_t not_yet = 0;
  if (!stopped_ns_.compare_exchange_strong(not_yet, base::now_ns(), std::memory_order_relaxed))
    return;
  why_stopped_ = why;
  wake_sleepers();
}

void RunControl::finish_counting() {
  if (counted_threads_.fetch_sub(1, std::memory_order_relaxed) == 1) wake_sleepers();
}

void RunControl::wake_sleepers() {
  is_over_.store(1);
  base::wake_all<base::Sleepers::kOfOneProcess>(is_over_);
}

std::optional<End> RunControl::why_stopped() const {
  return must_stop() ? std::optional(why_stopped_) : std::nullopt;
}

std::int64_t RunControl::end_ns() const {
  const std::int64_t stopped_ns = stopped_ns_.load(std::memory_order_relaxed);
  return stopped_ns == 0 ? window_end_ns : std::min(stopped_ns, window_end_ns);
}

bool RunControl::sleep_until(std::int64_t until_ns) {
  constexpr auto kSleepers = base::Sleepers::kOfOneProcess;
  while (base::now_ns() < until_ns) {
    if (is_over_.load() != 0) return false;
    base::sleep_while<kSleepers>(is_over_, std::uint32_t{0}, until_ns);
  }
  return true;
}

}  // namespace loadgen
