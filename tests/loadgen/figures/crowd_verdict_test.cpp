#include <string>
#include <vector>

#include "loadgen/figures/crowd.h"
#include "tests/catch.h"
#include "tests/loadgen/compare.h"

using loadgen::crowd::faults_of;
using loadgen::crowd::Outcome;
using CrowdTally = loadgen::crowd::Tally;
using tests::contains;

namespace {

constexpr std::int64_t kMs = 1'000'000;

const Outcome kAllHold{.asked = 6, .standing = {.started = 6, .left = 6}};

// The only fault of a run with fetches.
std::string fault_of(const CrowdTally& tally, const Outcome& outcome = kAllHold) {
  const std::vector<std::string> faults = faults_of(tally, outcome, 10);
  REQUIRE(faults.size() <= 1);
  return faults.empty() ? "" : faults[0];
}

}  // namespace

TEST_CASE("users that drop out of a crowd are no fault of the run", "[loadgen]") {
  CrowdTally tally;
  tally.least_slack_ns = 1000 * kMs;
  CHECK(fault_of(tally).empty());
  CHECK(fault_of(tally, {.asked = 6, .standing = {.started = 6, .left = 3}}).empty());
  CHECK(fault_of(tally, {.asked = 6, .standing = {.started = 6}}).empty());
}

TEST_CASE("a crowd with fewer users than were asked for is not valid", "[loadgen]") {
  CHECK(fault_of({}, {.asked = 6, .standing = {.started = 5, .left = 5}}) ==
        "only 5 of 6 users were started");
}

TEST_CASE("a crowd in which no file came whole is not valid", "[loadgen]") {
  const Outcome nobody{.asked = 6, .standing = {.started = 6, .left = 6, .without_fetch = 6}};
  CHECK(faults_of({}, nobody, 0) == std::vector<std::string>{"nobody ever got a whole file"});
  CHECK(fault_of({}, nobody) == "no user that is left has got a whole file");
  const Outcome one{.asked = 6, .standing = {.started = 6, .left = 6, .without_fetch = 5}};
  CHECK(fault_of({}, one).empty());
}

TEST_CASE("a loadgen that was late may have made its users slow", "[loadgen]") {
  CrowdTally tally;
  tally.least_slack_ns = 1000 * kMs;
  tally.most_late_ns = 50 * kMs;
  CHECK(fault_of(tally).empty());
  tally.most_late_ns = 51 * kMs;
  CHECK(contains(fault_of(tally), "loadgen itself was late, by up to 51 ms, which is over 5% of"));
}

TEST_CASE("a drop-out is not blamed on a server while loadgen is late", "[loadgen]") {
  CrowdTally tally;
  tally.late_drops = 3;
  CHECK(fault_of(tally) == "when loadgen itself was late, users dropped out: 3");
}

TEST_CASE("a limit that a clock would decide blames nobody", "[loadgen]") {
  CrowdTally tally;
  tally.least_slack_ns = 50 * kMs;
  CHECK(fault_of(tally).empty());
  tally.least_slack_ns = 50 * kMs - 1;
  tally.late_drops = 3;
  CHECK(contains(fault_of(tally), "lower --least-rate or --pace, or ask for a larger file"));
}

TEST_CASE("the doubts of all threads are added up", "[loadgen]") {
  CrowdTally all;
  CrowdTally other;
  all.most_late_ns = 5;
  all.late_drops = 1;
  all.least_slack_ns = 90 * kMs;
  other.most_late_ns = 3;
  other.late_drops = 2;
  other.least_slack_ns = 100 * kMs;
  all.add(other);
  CHECK(all.most_late_ns == 5);
  CHECK(all.late_drops == 3);
  CHECK(all.least_slack_ns == 90 * kMs);
}
