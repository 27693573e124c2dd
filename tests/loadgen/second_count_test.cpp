#include "loadgen/second_count.h"

#include <string>

#include "tests/catch.h"

using loadgen::counts_in;
using loadgen::RequestKind;

namespace {

const std::string kPage =
    "# HELP turnstile_requests_total Requests.\n"
    "turnstile_requests_total{verb=\"new\",result=\"OK\"} 3\n"
    "turnstile_requests_total{verb=\"get\",result=\"OK\"} 9\n"
    "turnstile_requests_total{verb=\"file\",result=\"OK\"} 18446744073709551615\n"
    "turnstile_requests_total{verb=\"file\",result=\"cut\"} 5\n"
    "turnstile_requests_total{verb=\"put\",result=\"OK\"} 0\n";

std::string with(const std::string& from, const std::string& to) {
  std::string page = kPage;
  page.replace(page.find(from), from.size(), to);
  return page;
}

}  // namespace

TEST_CASE("what a server has answered is read from its page", "[loadgen]") {
  const auto counts = counts_in(kPage);
  REQUIRE(counts);
  CHECK(counts->of(RequestKind::kNew) == 3);
  CHECK(counts->of(RequestKind::kGet) == 18446744073709551615u);
  CHECK(counts->of(RequestKind::kPut) == 0);
}

TEST_CASE("a page without the counters of a fileserver has no counts", "[loadgen]") {
  for (const std::string& bad :
       {std::string(), with("verb=\"file\"", "verb=\"auth\""), with(" 3\n", " x\n"),
        with(" 3\n", " 3.5\n"), with(" 3\n", " -3\n"), with(" 0\n", " 0"),
        with("18446744073709551615", "18446744073709551616")}) {
    CAPTURE(bad);
    CHECK_FALSE(counts_in(bad));
  }
}
