#include "loadgen/figures/series_file.h"

#include <fstream>
#include <sstream>
#include <string>

#include "base/clock.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using base::kNsPerMs;
using base::kNsPerS;
using loadgen::SeriesFile;
using loadgen::ThreadSeries;

namespace {

constexpr std::int64_t kSeriesStart = 50 * kNsPerS;
const std::string kSeriesColumns =
    "t,under_way,started,ended,failed,bytes,mean_ms,p50_ms,p99_ms,max_ms\n";

std::int64_t series_at(std::int64_t ms) { return kSeriesStart + ms * kNsPerMs; }

std::string series_content(const std::string& path) {
  std::ostringstream text;
  text << std::ifstream(path).rdbuf();
  return text.str();
}

}  // namespace

TEST_CASE("each second has a line with the sums of all threads", "[loadgen]") {
  const tests::TemporaryFolder folder;
  const std::string path = folder.path("series.csv");
  ThreadSeries one;
  ThreadSeries other;
  const auto file = SeriesFile::open(path);
  REQUIRE(file);
  CHECK(series_content(path) == kSeriesColumns);
  for (ThreadSeries* const thread : {&one, &other}) {
    thread->begin(kSeriesStart);
    (*file)->add(*thread);
  }
  one.start(series_at(0));
  other.start(series_at(0));
  one.end(series_at(100), 100 * kNsPerMs);
  CHECK((*file)->write_before(1));
  const std::string first = "1,1,2,1,0,0,100.000,100.000,100.000,100.000\n";
  CHECK(series_content(path) == kSeriesColumns + first);

  other.fail(series_at(2100));
  one.start(series_at(3100));
  one.end(series_at(3200), 1 * kNsPerMs);
  other.start(series_at(3100));
  other.end(series_at(3200), 3 * kNsPerMs);
  CHECK((*file)->write_before(3));
  const std::string later =
      "2,1,0,0,0,0,,,,\n"
      "3,0,0,0,1,0,,,,\n";
  CHECK(series_content(path) == kSeriesColumns + first + later);
  REQUIRE((*file)->finish());
  const std::string lines = series_content(path);
  CHECK(lines.starts_with(kSeriesColumns + first + later + "4,0,2,2,0,0,2.000,1.00"));
  CHECK(lines.ends_with(",3.000\n"));
}

TEST_CASE("no path is no series, and one that cannot be written is a failure", "[loadgen]") {
  const tests::TemporaryFolder folder;
  const auto none = SeriesFile::open("");
  REQUIRE(none);
  CHECK(*none == nullptr);
  CHECK_FALSE(SeriesFile::open(folder.path("missing/series.csv")));
  const auto full = SeriesFile::open("/dev/full");
  REQUIRE_FALSE(full);
  CHECK(full.error().context.starts_with("--series: write /dev/full: "));
}
