#include "loadgen/outlook.h"

#include "base/clock.h"
#include "tests/catch.h"

using base::ErrorCode;
using base::kNsPerMs;
using base::kNsPerS;
using loadgen::Cause;
using loadgen::Fault;
using loadgen::Live;
using loadgen::Outcomes;
using loadgen::Outlook;

namespace {

constexpr std::int64_t kStart = 1000 * kNsPerS;

Live live_of(std::initializer_list<std::optional<Cause>> outcomes) {
  Live live;
  for (const auto& one : outcomes) live.outcomes.add(Outcomes::of(one));
  return live;
}

std::optional<Cause> after(std::int64_t passed_ns, const Live& live) {
  Outlook outlook;
  outlook.begin(kStart);
  return outlook.hopeless(kStart + passed_ns, live);
}

}  // namespace

TEST_CASE("a run in which all failed for one lasting cause is hopeless after a second",
          "[loadgen][outlook]") {
  for (const Cause cause :
       {Cause(Fault::kConnect), Cause(ErrorCode::kDenied), Cause(ErrorCode::kNotFound)}) {
    CHECK_FALSE(after(kNsPerS - 1, live_of({cause})));
    CHECK(after(kNsPerS, live_of({cause, cause})) == cause);
  }
  CHECK_FALSE(Outlook().hopeless(kStart, live_of({Cause(Fault::kConnect)})));
}

TEST_CASE("one success, another cause or one that may pass leaves hope", "[loadgen][outlook]") {
  const Cause denied(ErrorCode::kDenied);
  CHECK_FALSE(after(kNsPerS, live_of({})));
  CHECK_FALSE(after(kNsPerS, live_of({{}, denied})));
  CHECK_FALSE(after(kNsPerS, live_of({denied, Cause(Fault::kConnect)})));
  CHECK_FALSE(after(kNsPerS, live_of({Cause(Fault::kTimeout)})));
  CHECK_FALSE(after(kNsPerS, live_of({Cause(ErrorCode::kBusy)})));
}

TEST_CASE("after a signal the requests under way are told once, and not at once",
          "[loadgen][outlook]") {
  Outlook outlook;
  Live live;
  live.under_way = 4;
  outlook.begin(kStart);
  CHECK(outlook.tell(kStart + kNsPerS, live).empty());
  outlook.note_signal(kStart);
  CHECK(outlook.tell(kStart + 299 * kNsPerMs, live).empty());
  live.under_way = 0;
  CHECK(outlook.tell(kStart + 300 * kNsPerMs, live).empty());
  live.under_way = 4;
  CHECK(outlook.tell(kStart + 300 * kNsPerMs, live) ==
        "loadgen: waiting for 4 requests under way; again to quit without results\n");
  CHECK(outlook.tell(kStart + kNsPerS, live).empty());
}
