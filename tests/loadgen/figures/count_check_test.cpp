#include "loadgen/figures/count_check.h"

#include "loadgen/figures/summary.h"
#include "tests/catch.h"
#include "tests/loadgen/compare.h"

using loadgen::CountCheck;
using loadgen::fault_of;
using loadgen::Figures;
using tests::contains;

TEST_CASE("two counts agree when they are equal", "[loadgen]") {
  CHECK_FALSE(fault_of({.server = 30, .loadgen = 30}));
  CHECK(fault_of({.server = 31, .loadgen = 30}) ==
        "the server counted 31 requests and loadgen 30: somebody else uses the server, or one of "
        "the two counts wrongly");
  CHECK(fault_of({.server = 29, .loadgen = 30}));
}

TEST_CASE("the server may have answered what failed for loadgen, but not less", "[loadgen]") {
  CHECK_FALSE(fault_of({.server = 32, .loadgen = 30, .doubtful = 2}));
  CHECK(fault_of({.server = 33, .loadgen = 30, .doubtful = 2}));
  CHECK(fault_of({.server = 29, .loadgen = 30, .doubtful = 2}));
}

TEST_CASE("a count that is not known agrees with none", "[loadgen]") {
  CHECK(fault_of({.server = 30, .loadgen = 30, .why_unknown = "no answer"}) ==
        "the server's own count is not known: no answer");
}

TEST_CASE("loadgen counts the requests of the whole run", "[loadgen]") {
  loadgen::Tally tally;
  tally.all_succeeded = 30;
  tally.all_failed = 2;
  tally.reconnects = 1;
  CHECK(loadgen::count_of(tally).loadgen == 30);
  CHECK(loadgen::count_of(tally).doubtful == 3);
}

TEST_CASE("the fetches that the end of a crowd broke off are in doubt", "[loadgen]") {
  loadgen::Tally tally;
  tally.response_ns.add(1);
  tally.errors[0] = 4;
  tally.crowd.emplace().broken_off = 2;
  CHECK(loadgen::count_of(tally).loadgen == 1);
  CHECK(loadgen::count_of(tally).doubtful == 6);
}

TEST_CASE("a run with another count than the server's is not valid", "[loadgen]") {
  Figures figures;
  figures.tally.response_ns.add(1'000'000);
  figures.tally.elapsed_ns = 1'000'000;
  figures.count_check = {.server = 1, .loadgen = 1};
  CHECK(loadgen::summarize(figures, 1).invalid_because.empty());
  figures.count_check->server = 3;
  REQUIRE(loadgen::summarize(figures, 1).invalid_because.size() == 1);
  CHECK(contains(loadgen::summarize(figures, 1).invalid_because[0], "the server counted 3"));
}
