#include "loadgen/figures/crowd_report.h"

#include "tests/catch.h"
#include "tests/loadgen/compare.h"

using loadgen::crowd::CrowdResult;
using loadgen::crowd::DropOut;
using loadgen::crowd::End;
using loadgen::crowd::pacing_of;
using loadgen::crowd::rate_errors_of;
using loadgen::crowd::Tally;
using tests::contains;

namespace {

CrowdResult with_drop_outs() {
  CrowdResult result;
  result.standing = {.started = 5, .held = 3};
  result.tally.drop_outs = {
      {.at_ns = 1'500'000'000, .cause = "too-slow", .why = "", .was_in_first_fetch = true},
      {.at_ns = 2'000'000'000, .cause = "closed", .why = "reset"}};
  result.tally.rate_errors = {0.01, 0.2, 0.02};
  return result;
}

loadgen::Config crowd_of(int users) {
  loadgen::Config config;
  config.crowd.users = users;
  config.rate_rps = 1000;
  config.user = "amy";
  config.password = "s3cret";
  return config;
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
  Tally tally;
  tally.receive_buffer_bytes = 8192;
  tally.file_bytes = 8192 + 1000;
  CHECK(std::string(pacing_of(tally, 1000).name) == "paced reading");
  CHECK(std::string(pacing_of(tally, 999).name) == "paced transfer");
}

TEST_CASE("the drop-outs of the first fetch stand apart", "[loadgen]") {
  const std::string json = loadgen::crowd::json_of(crowd_of(5), with_drop_outs());
  CHECK(contains(json, "\"held\": 3"));
  CHECK(contains(json, "\"dropped\": 2"));
  CHECK(contains(json, "\"in_first_fetch\": 1"));
  CHECK(contains(json, "\"t_s\": 1.5"));
  const std::string table = loadgen::crowd::table_of(crowd_of(5), with_drop_outs());
  CHECK(contains(table, "5 started, 3 hold, 2 dropped out, too-slow 1, closed 1"));
  CHECK(contains(table, "first closed: reset"));
  for (const std::string& text : {json, table}) {
    CHECK_FALSE(contains(text, "amy"));
    CHECK_FALSE(contains(text, "s3cret"));
  }
}

TEST_CASE("a crowd fails if nobody holds, or if nobody may leave", "[loadgen]") {
  CrowdResult result = with_drop_outs();
  CHECK_FALSE(loadgen::crowd::failure_of(result));
  result.end = End::kTooSlow;
  CHECK(contains(*loadgen::crowd::failure_of(result), "too-slow 1, closed 1"));
  result.end = End::kStable;
  result.standing.held = 0;
  CHECK(contains(*loadgen::crowd::failure_of(result), "no user holds"));
}
