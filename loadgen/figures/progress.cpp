#include "loadgen/figures/progress.h"

#include <fmt/core.h>
#include <unistd.h>

#include <algorithm>
#include <utility>

#include "base/standard_streams.h"
#include "base/units.h"
#include "loadgen/figures/units.h"

namespace loadgen {

namespace {

// With this many bars the line fits into 80 columns.
constexpr std::size_t kBars = 24;

constexpr const char* kEraseLine = "\r\033[K";

}  // namespace

std::string sparkline(const std::vector<double>& values) {
  constexpr const char* kLevels[] = {"▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"};
  const double highest = values.empty() ? 0 : *std::max_element(values.begin(), values.end());
  std::string bars;
  for (const double value : values) {
    const double share = highest > 0 ? value / highest : 0;
    bars += kLevels[std::min<std::size_t>(7, static_cast<std::size_t>(share * 8))];
  }
  return bars;
}

std::string crowd_line(int elapsed_s, const crowd::Standing& users, std::uint64_t bytes) {
  return fmt::format("{:4} s {:7} users {:7} dropped out {:>9}/s  ", elapsed_s, users.left,
                     users.started - users.left, base::human_bytes(static_cast<double>(bytes)));
}

Progress::Progress() : is_shown_(::isatty(STDERR_FILENO) == 1) {}

Progress::~Progress() {
  if (is_shown_) base::tell(kEraseLine);
}

void Progress::tell(const std::string& line) const {
  base::tell(is_shown_ ? kEraseLine + line : line);
}

void Progress::show(int elapsed_s, const Live& so_far) {
  if (!is_shown_) return;
  const std::uint64_t requests = so_far.requests - before_.requests;
  const auto response_ns = static_cast<double>(so_far.response_ns - before_.response_ns);
  before_ = so_far;

  add(static_cast<double>(requests));
  const double mean_ms = requests == 0 ? 0 : ms_of(response_ns / static_cast<double>(requests));
  const std::string line =
      fmt::format("{}{:4} s {:8}/s  mean {:8.3f} ms  {} errors  {}", kEraseLine, elapsed_s,
                  requests, mean_ms, so_far.errors, sparkline(rates_));
  base::tell(line);
}

void Progress::show(int elapsed_s, const crowd::Standing& users, std::uint64_t bytes) {
  if (!is_shown_) return;
  const std::uint64_t read = bytes - std::exchange(bytes_before_, bytes);
  add(static_cast<double>(read));
  base::tell(kEraseLine + crowd_line(elapsed_s, users, read) + sparkline(rates_));
}

void Progress::add(double rate) {
  rates_.push_back(rate);
  if (rates_.size() > kBars) rates_.erase(rates_.begin());
}

}  // namespace loadgen
