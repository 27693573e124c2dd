#include "loadgen/figures/series_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>
#include <utility>

#include "loadgen/figures/histogram.h"
#include "loadgen/figures/units.h"

namespace loadgen {

namespace {

constexpr std::string_view kSeriesHeader =
    "t,under_way,started,ended,failed,bytes,mean_ms,p50_ms,p99_ms,max_ms\n";

// Of all threads.
struct SecondSums {
  SecondCounts counts;
  Histogram response_ns;

  void add(const SecondCounts& other) {
    counts.started += other.started;
    counts.ended += other.ended;
    counts.failed += other.failed;
    counts.bytes += other.bytes;
    for (const std::int64_t response : other.response_ns) response_ns.add(response);
  }
};

// Empty where no request has a response time.
std::string times_text(const Histogram& response_ns) {
  if (response_ns.count() == 0) return ",,,";
  const auto percentile_ms = [&](unsigned per_mille) {
    return ms_of(static_cast<double>(response_ns.value_at(per_mille)));
  };
  return fmt::format("{:.3f},{:.3f},{:.3f},{:.3f}", ms_of(response_ns.mean()), percentile_ms(500),
                     percentile_ms(990), ms_of(static_cast<double>(response_ns.max())));
}

}  // namespace

base::Result<std::unique_ptr<SeriesFile>> SeriesFile::open(const std::string& path) {
  if (path.empty()) return std::unique_ptr<SeriesFile>();
  auto file = LineFile::open("--series", path);
  if (!file) return file.error();
  if (!file->write(kSeriesHeader)) return file->finish().error();
  return std::unique_ptr<SeriesFile>(new SeriesFile(std::move(*file)));
}

bool SeriesFile::write_before(std::size_t end) {
  if (end <= written_) return file_.write({});
  std::vector<SecondSums> seconds(end - written_);
  for (ThreadSeries* const thread : threads_) {
    auto second = seconds.begin();
    for (const SecondCounts& counts : thread->take_before(end)) (second++)->add(counts);
  }
  std::string lines;
  for (const auto& [counts, response_ns] : seconds) {
    under_way_ += counts.started - counts.ended - counts.failed;
    fmt::format_to(std::back_inserter(lines), "{},{},{},{},{},{},{}\n", ++written_, under_way_,
                   counts.started, counts.ended, counts.failed, counts.bytes,
                   times_text(response_ns));
  }
  return file_.write(lines);
}

base::Status SeriesFile::finish() {
  std::size_t end = written_;
  for (const ThreadSeries* const thread : threads_) end = std::max(end, thread->seconds());
  static_cast<void>(write_before(end));
  return file_.finish();
}

}  // namespace loadgen
