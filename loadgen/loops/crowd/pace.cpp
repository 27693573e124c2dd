#include "loadgen/loops/crowd/pace.h"

#include <algorithm>
#include <cmath>

namespace loadgen::crowd {

namespace {

constexpr double kNsPerS = 1e9;
constexpr double kReadEveryS = 2;
constexpr double kLongestFetchS = 366.0 * 24 * 60 * 60;

std::int64_t ns_for(std::uint64_t bytes, double bytes_s) {
  return static_cast<std::int64_t>(std::ceil(static_cast<double>(bytes) * kNsPerS / bytes_s));
}

}  // namespace

Pace::Pace(double rate_bytes_s, int least_percent, std::uint64_t most_bytes)
    : rate_bytes_s_(rate_bytes_s),
      least_bytes_s_(rate_bytes_s * least_percent / 100),
      portion_bytes_(std::clamp<std::uint64_t>(
          static_cast<std::uint64_t>(kReadEveryS * rate_bytes_s), 1, most_bytes)) {}

std::uint64_t Pace::due_bytes(std::int64_t elapsed_ns, std::uint64_t size_bytes) const {
  const double due = static_cast<double>(elapsed_ns) * rate_bytes_s_ / kNsPerS;
  // Without this millionth of a byte, a moment of due_ns() might be one byte short.
  const auto whole = static_cast<std::uint64_t>(std::max(0.0, due + 1e-6));
  return std::min(size_bytes, whole);
}

std::int64_t Pace::due_ns(std::uint64_t bytes) const { return ns_for(bytes, rate_bytes_s_); }

std::int64_t Pace::next_read_ns(std::uint64_t got_bytes, std::uint64_t size_bytes) const {
  return due_ns(std::min(size_bytes, got_bytes + portion_bytes_));
}

std::int64_t Pace::grain_ms(std::uint64_t size_bytes) const {
  return std::clamp<std::int64_t>(due_ns(size_bytes) / 1'000 / 1'000'000, 1, 20);
}

bool Pace::can_time(std::uint64_t size_bytes) const {
  return static_cast<double>(size_bytes) <= kLongestFetchS * least_bytes_s_;
}

std::int64_t Pace::limit_ns(std::uint64_t size_bytes) const {
  return ns_for(size_bytes, least_bytes_s_);
}

double Pace::error_of(std::uint64_t size_bytes, std::int64_t took_ns) const {
  const double rate = static_cast<double>(size_bytes) * kNsPerS / static_cast<double>(took_ns);
  return rate / rate_bytes_s_ - 1;
}

}  // namespace loadgen::crowd
