#include "telemetry/page.h"

#include <fmt/core.h>

namespace telemetry {

namespace {

double seconds(std::int64_t ns) { return static_cast<double>(ns) / 1e9; }

}  // namespace

void Page::family(std::string_view name, std::string_view type, std::string_view help) {
  name_ = name;
  text_ += fmt::format("# HELP {0} {1}\n# TYPE {0} {2}\n", name, help, type);
}

void Page::sample(std::string_view labels, std::uint64_t value) {
  line("", labels, fmt::format("{}", value));
}

void Page::sample(std::string_view labels, std::int64_t value) {
  line("", labels, fmt::format("{}", value));
}

void Page::sample(std::string_view labels, double value) {
  line("", labels, fmt::format("{:.15g}", value));
}

// Each bucket is a number of its own in a slot, and includes all lower ones here. The count is
// their sum, so it always equals the last bucket.
void Page::histogram(std::string_view labels,
                     std::span<const std::uint64_t, kHistogramSize> histogram) {
  const std::string before = labels.empty() ? "" : std::string(labels) + ",";
  std::uint64_t count = 0;
  for (std::size_t i = 0; i < kBuckets; ++i) {
    count += histogram[i];
    const std::string bound =
        i < kBoundsNs.size() ? fmt::format("{:g}", seconds(kBoundsNs[i])) : "+Inf";
    line("_bucket", fmt::format("{}le=\"{}\"", before, bound), fmt::format("{}", count));
  }
  const auto sum_ns = static_cast<std::int64_t>(histogram[kBuckets]);
  line("_sum", labels, fmt::format("{:.15g}", seconds(sum_ns)));
  line("_count", labels, fmt::format("{}", count));
}

void Page::line(std::string_view suffix, std::string_view labels, std::string_view value) {
  if (labels.empty()) {
    text_ += fmt::format("{}{} {}\n", name_, suffix, value);
  } else {
    text_ += fmt::format("{}{}{{{}}} {}\n", name_, suffix, labels, value);
  }
}

}  // namespace telemetry
