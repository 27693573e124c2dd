#include "loadgen/figures/hgrm.h"

#include <sstream>
#include <vector>

#include "base/clock.h"
#include "tests/catch.h"
#include "tests/loadgen/compare.h"

using base::kNsPerMs;
using loadgen::Histogram;
using tests::contains;

namespace {

std::vector<std::string> lines_of(const Histogram& histogram) {
  std::vector<std::string> lines;
  std::istringstream text(loadgen::hgrm_of(histogram));
  for (std::string line; std::getline(text, line);) lines.push_back(line);
  return lines;
}

// A thousand requests of 1 to 1000 ms.
Histogram thousand() {
  Histogram histogram;
  for (std::int64_t ms = 1; ms <= 1000; ++ms) histogram.add(ms * kNsPerMs);
  return histogram;
}

}  // namespace

TEST_CASE("a distribution of one value has its first and its last line", "[loadgen]") {
  Histogram histogram;
  histogram.add(100);
  CHECK(loadgen::hgrm_of(histogram) ==
        "       Value     Percentile TotalCount 1/(1-Percentile)\n"
        "\n"
        "       0.000 0.000000000000          1           1.00\n"
        "       0.000 1.000000000000          1\n"
        "#[Mean    =        0.000, StdDeviation   =        0.000]\n"
        "#[Max     =        0.000, Total count    =            1]\n"
        "#[Buckets =           58, SubBuckets     =           64]\n");
}

TEST_CASE("the lines of a distribution halve the distance to 100% in five steps", "[loadgen]") {
  const std::vector<std::string> lines = lines_of(thousand());
  const std::vector<std::string> levels = {"0.0000", "0.1000", "0.2000", "0.3000", "0.4000",
                                           "0.5000", "0.5500", "0.6000", "0.6500", "0.7000",
                                           "0.7500", "0.7750", "0.8000"};
  REQUIRE(lines.size() > levels.size() + 2);
  for (std::size_t i = 0; i < levels.size(); ++i) CHECK(contains(lines[i + 2], " " + levels[i]));
  CHECK(contains(lines[7], "           2.00"));
}

TEST_CASE("each line says how many values are at or below its value", "[loadgen]") {
  for (const std::string& line : lines_of(thousand())) {
    if (line.empty() || line[0] == '#' || contains(line, "Value")) continue;
    std::istringstream columns(line);
    double value_ms = 0;
    double share = 0;
    std::uint64_t count = 0;
    columns >> value_ms >> share >> count;
    CAPTURE(line);
    CHECK(static_cast<double>(count) >= share * 1000);
    CHECK(static_cast<double>(count) <= value_ms);
    CHECK(static_cast<double>(count) >= value_ms / 1.016 - 1);
  }
}

TEST_CASE("the last line of a distribution has all values and no fourth column", "[loadgen]") {
  const std::vector<std::string> lines = lines_of(thousand());
  const std::string& last = lines[lines.size() - 4];
  CHECK(contains(last, "1.000000000000       1000"));
  CHECK(last.size() == 38);
  CHECK(contains(lines[lines.size() - 3], "Mean    =      500.500, StdDeviation   =      288."));
  CHECK(
      contains(lines[lines.size() - 2], "Max     =     1000.000, Total count    =         1000]"));
}

TEST_CASE("a distribution without a value has only a head and a foot", "[loadgen]") {
  CHECK(lines_of(Histogram()).size() == 5);
  CHECK(contains(loadgen::hgrm_of(Histogram()), "Total count    =            0]"));
}
