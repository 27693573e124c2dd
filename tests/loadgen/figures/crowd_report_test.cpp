#include <string>

#include "loadgen/figures/json.h"
#include "loadgen/figures/table.h"
#include "tests/catch.h"
#include "tests/loadgen/compare.h"

using loadgen::End;
using loadgen::Figures;
using loadgen::crowd::pacing_of;
using loadgen::crowd::rate_errors_of;
using CrowdTally = loadgen::crowd::Tally;
using tests::contains;

namespace {

// Of five users, one was too slow in its first fetch and one lost its connection.
Figures with_drop_outs() {
  Figures figures;
  figures.tally.crowd = {
      .drop_outs = {{.at_ns = 1'500'000'000, .was_in_first_fetch = true},
                    {.at_ns = 2'000'000'000, .cause = loadgen::Fault::kClosed, .why = "reset"},
                    {.at_ns = 2'500'000'000, .cause = loadgen::Fault::kClosed, .why = "later"}},
      .rate_errors = {0.01, 0.2, 0.02}};
  figures.tally.errors[loadgen::Cause(loadgen::Fault::kTooSlow).index()] = 1;
  figures.tally.errors[loadgen::Cause(loadgen::Fault::kClosed).index()] = 2;
  figures.tally.response_ns.add(1'000'000);
  figures.tally.elapsed_ns = 2'000'000'000;
  figures.end = End::kStable;
  figures.crowd = {.standing = {.started = 6, .left = 3}};
  return figures;
}

loadgen::Config crowd_of(int users) {
  loadgen::Config config;
  config.users = users;
  config.crowd.pace_bytes_s = 1000;
  config.user = "amy";
  config.password = "s3cret";
  return config;
}

std::string crowd_failure(const Figures& figures) {
  return loadgen::failure_of(loadgen::summarize(figures, 1)).value_or("none");
}

}  // namespace

TEST_CASE("the rates of users are judged by the worst, the median, and a share", "[loadgen]") {
  const auto errors = rate_errors_of({0.5, 0.01, 0.05, 0.02});
  CHECK(errors.users == 4);
  CHECK(errors.worst == Approx(0.5));
  CHECK(errors.p50 == Approx(0.02));
  CHECK(errors.share_within_5_percent == Approx(0.75));
  CHECK(rate_errors_of({}).users == 0);
}

TEST_CASE("a file that fits into the buffers is paced reading", "[loadgen]") {
  CrowdTally tally;
  tally.receive_buffer_bytes = 8192;
  tally.file_bytes = 8192 + 1000;
  CHECK(std::string(pacing_of(tally, 1000).name) == "paced reading");
  CHECK(std::string(pacing_of(tally, 999).name) == "paced transfer");
}

TEST_CASE("the drop-outs of the first fetch stand apart", "[loadgen]") {
  const Figures figures = with_drop_outs();
  const loadgen::Summary summary = loadgen::summarize(figures, 1);
  const std::string json = loadgen::json_of(crowd_of(6), figures, summary);
  CHECK(contains(json, "\"held\": 3"));
  CHECK(contains(json, "\"dropped\": 3"));
  CHECK(contains(json, "\"in_first_fetch\": 1"));
  CHECK(contains(json, "\"t_s\": 1.5"));
  CHECK(contains(json, "\"closed\": \"reset\""));
  const std::string table = loadgen::table_of(crowd_of(6), figures, summary);
  CHECK(contains(table, "6 started, 3 hold, 3 dropped out, too-slow 1, closed 2"));
  CHECK(contains(table, "first closed: reset"));
  CHECK_FALSE(contains(json, "s3cret"));
  CHECK_FALSE(contains(table, "s3cret"));
}

TEST_CASE("without a fetch there is no rate, and nobody holds", "[loadgen]") {
  Figures figures;
  figures.tally.crowd.emplace();
  figures.crowd = {.asked = 6, .standing = {.started = 6, .left = 5, .without_fetch = 5}};
  const loadgen::Summary summary = loadgen::summarize(figures, 1);
  const std::string table = loadgen::table_of(crowd_of(6), figures, summary);
  CHECK(contains(table, "6 started, 0 hold, 5 without a whole file, 1 dropped out"));
  CHECK_FALSE(contains(table, "worst"));
  CHECK(contains(loadgen::json_of(crowd_of(6), figures, summary), "\"worst\": null"));
}

TEST_CASE("a crowd fails if a user left, and is still valid", "[loadgen]") {
  Figures figures = with_drop_outs();
  CHECK(crowd_failure(figures) == "3 of 6 users dropped out: closed 2, too-slow 1");
  figures.end = End::kFailed;
  figures.crowd->standing.left = 0;
  CHECK(crowd_failure(figures) == "3 of 6 users dropped out: closed 2, too-slow 1");
  figures.tally.response_ns = {};
  CHECK(crowd_failure(figures) == "the run is invalid: nobody ever got a whole file");
  figures = with_drop_outs();
  figures.tally.errors = {};
  CHECK(crowd_failure(figures) == "none");
}
