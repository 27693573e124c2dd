#include "telemetry/page.h"

#include <array>

#include "tests/catch.h"

using telemetry::Page;

TEST_CASE("a page is lines of name, labels and value", "[telemetry]") {
  Page page;
  page.gauge("a_gauge", "Goes up and down.", std::int64_t{-3});
  page.family("b_total", "counter", "Goes up.");
  page.sample("x=\"1\"", std::uint64_t{18'446'744'073'709'551'615U});
  page.sample("x=\"2\"", 0.25);
  CHECK(page.text() ==
        "# HELP a_gauge Goes up and down.\n# TYPE a_gauge gauge\na_gauge -3\n"
        "# HELP b_total Goes up.\n# TYPE b_total counter\n"
        "b_total{x=\"1\"} 18446744073709551615\nb_total{x=\"2\"} 0.25\n");
}

TEST_CASE("each bucket of a histogram includes the lower ones", "[telemetry]") {
  std::array<std::uint64_t, telemetry::kHistogramSize> histogram{};
  histogram[0] = 2;
  histogram[1] = 3;
  histogram[15] = 4;
  histogram[telemetry::kBuckets] = 1'500'000'000;
  Page page;
  page.family("t_seconds", "histogram", "Time.");
  page.histogram("", histogram);
  const std::string& text = page.text();
  CHECK(text.find("t_seconds_bucket{le=\"0.0001\"} 2\n") != std::string::npos);
  CHECK(text.find("t_seconds_bucket{le=\"0.00025\"} 5\n") != std::string::npos);
  CHECK(text.find("t_seconds_bucket{le=\"5\"} 5\n") != std::string::npos);
  CHECK(text.find("t_seconds_bucket{le=\"+Inf\"} 9\n") != std::string::npos);
  CHECK(text.find("t_seconds_sum 1.5\nt_seconds_count 9\n") != std::string::npos);
}
