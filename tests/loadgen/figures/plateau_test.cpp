#include "loadgen/figures/tally.h"

#include "tests/catch.h"

using loadgen::Exchange;
using loadgen::PlateauTally;

namespace {

constexpr std::int64_t kPlateauStart = 1'000;
constexpr std::int64_t kEnd = 2'000;

Exchange request(std::int64_t started_ns, std::int64_t ended_ns) {
  Exchange exchange;
  exchange.started_ns = started_ns;
  exchange.ended_ns = ended_ns;
  return exchange;
}

PlateauTally tally_of(const Exchange& exchange) {
  PlateauTally tally;
  tally.add(exchange, kPlateauStart, kEnd);
  return tally;
}

}  // namespace

TEST_CASE("a request that ends in the plateau counts, with its time within it", "[loadgen]") {
  const PlateauTally within = tally_of(request(1'200, 1'500));
  CHECK(within.response_ns.count() == 1);
  CHECK(within.busy_ns == 300);
  const PlateauTally into = tally_of(request(600, 1'100));
  CHECK(into.response_ns.sum() == 500);
  CHECK(into.busy_ns == 100);
}

TEST_CASE("a request that ends behind the plateau has only its time within it", "[loadgen]") {
  const PlateauTally beyond = tally_of(request(1'900, 2'000));
  CHECK(beyond.response_ns.count() == 0);
  CHECK(beyond.busy_ns == 100);
  const PlateauTally around = tally_of(request(0, 5'000));
  CHECK(around.response_ns.count() == 0);
  CHECK(around.busy_ns == 1'000);
  CHECK(tally_of(request(0, 999)).busy_ns + tally_of(request(2'000, 3'000)).busy_ns == 0);
}

TEST_CASE("the part of a pause that lies in the plateau counts", "[loadgen]") {
  PlateauTally tally;
  tally.add(loadgen::Pause{.from_ns = 900, .to_ns = 1'200}, kPlateauStart, kEnd);
  tally.add(loadgen::Pause{.from_ns = 1'500, .to_ns = 2'500}, kPlateauStart, kEnd);
  tally.add(loadgen::Pause{.from_ns = 100, .to_ns = 900}, kPlateauStart, kEnd);
  CHECK(tally.paused_ns == 700);
  PlateauTally sum = tally;
  sum.add(tally);
  CHECK(sum.paused_ns == 1'400);
}

TEST_CASE("a request that failed is in no figure of the plateau", "[loadgen]") {
  Exchange failed = request(1'200, 1'500);
  failed.failure = loadgen::Fault::kTimeout;
  CHECK(tally_of(failed).response_ns.count() == 0);
  CHECK(tally_of(failed).busy_ns == 0);
}
