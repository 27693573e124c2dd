#include "events/spares.h"

#include <malloc.h>

#include <algorithm>
#include <fstream>
#include <iterator>
#include <memory>
#include <string>
#include <vector>

#include "base/clock.h"
#include "tests/catch.h"
#include "tests/lib/events/loop_scene.h"

using events::Flow;
using events::Spares;

namespace {

constexpr std::size_t kMany = 10 * Spares::kMostKept;

std::size_t mappings() {
  std::ifstream maps("/proc/self/maps");
  return static_cast<std::size_t>(
      std::count(std::istreambuf_iterator<char>(maps), std::istreambuf_iterator<char>(), '\n'));
}

void give_all(Spares& spares, std::vector<std::unique_ptr<Flow>>& flows) {
  for (auto& flow : flows) spares.give(std::move(flow));
  flows.clear();
}

std::vector<std::unique_ptr<Flow>> take_all(Spares& spares) {
  std::vector<std::unique_ptr<Flow>> flows;
  while (std::unique_ptr<Flow> flow = spares.take()) flows.push_back(std::move(flow));
  return flows;
}

}  // namespace

TEST_CASE("contexts that were needed at once are there for the next ones", "[events]") {
  tests::LoopThread one;
  std::vector<std::size_t> taken;
  one.do_one([&] {
    Spares spares(one.loop);
    auto flows = take_all(spares);
    while (flows.size() < kMany) flows.push_back(spares.make());
    for (int round = 0; round < 3; ++round) {
      give_all(spares, flows);
      flows = take_all(spares);
      taken.push_back(flows.size());
    }
    give_all(spares, flows);
    spares.clear();
  });
  CHECK(taken == std::vector<std::size_t>{kMany, kMany, kMany});
}

TEST_CASE("contexts that nobody needs any more give their stacks back", "[events]") {
  tests::LoopThread one;
  std::size_t before = 0, at_once = 0, afterwards = 0, left = 0;
  one.do_one([&] {
    Spares spares(one.loop);
    before = mappings();
    auto flows = take_all(spares);
    while (flows.size() < kMany) flows.push_back(spares.make());
    give_all(spares, flows);
    at_once = mappings();
    const auto deadline = base::Deadline::in_ms(30'000);
    do {
      base::pause_ms(Spares::kPeriodMs);
      afterwards = mappings();
    } while (afterwards + kMany > at_once && !deadline.has_passed());
    left = take_all(spares).size();
    spares.clear();
  });
  CHECK(at_once > before + kMany);
  CHECK(afterwards + kMany <= at_once);
  CHECK(left >= Spares::kMostKept);
}

namespace {

// Without the stacks, which are mapped. Sanitizers say 0.
std::size_t heap_bytes() {
  const struct mallinfo2 now = ::mallinfo2();
  return now.uordblks + now.hblkhd;
}

}  // namespace

TEST_CASE("contexts that are made and go again and again take no more memory", "[events]") {
  const int kTimes = heap_bytes() == 0 ? 2 : 20;  // with a sanitizer
  constexpr std::size_t kLooks = kMany / Spares::kMostGone + 2;
  tests::LoopThread one;
  std::vector<std::size_t> taken;
  one.do_one([&] {
    Spares spares(one.loop);
    const std::size_t before = heap_bytes();
    for (int i = 0; i < kTimes; ++i) {
      auto flows = take_all(spares);
      while (flows.size() < kMany) flows.push_back(spares.make());
      give_all(spares, flows);
      for (std::size_t look = 0; look < kLooks; ++look)
        static_cast<events::Timer&>(spares).is_due();
    }
    taken.push_back(heap_bytes() - before);
    taken.push_back(take_all(spares).size());
    spares.clear();
  });
  const std::size_t once = 4 * kMany * sizeof(void*) + Spares::kMostKept * sizeof(Flow);
  CHECK(taken.at(0) < 2 * once);
  CHECK(taken.at(1) == Spares::kMostKept);
}
