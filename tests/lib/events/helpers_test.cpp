#include "events/helpers.h"

#include <algorithm>
#include <atomic>
#include <filesystem>
#include <functional>
#include <iterator>
#include <latch>
#include <string>
#include <vector>

#include "base/clock.h"
#include "base/waits.h"
#include "tests/catch.h"
#include "tests/lib/events/loop_scene.h"

using events::Helpers;
using Length = base::Waits::Length;

namespace {

constexpr std::size_t kHung = 3 * Helpers::kMost;

// Of this process.
std::size_t threads() {
  const std::filesystem::directory_iterator all("/proc/self/task");
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

bool is_soon(const std::function<bool()>& is_true) {
  const auto deadline = base::Deadline::in_ms(30'000);
  while (!is_true() && !deadline.has_passed()) base::pause_ms(1);
  return is_true();
}

// Many calls that hang at the same time, until the end.
class Hung {
 public:
  Hung(tests::LoopThread& one, Length length) : ended_(kHung) {
    for (std::size_t i = 0; i < kHung; ++i) {
      one.begin([this, length] {
        base::may_block([this] { hang(); }, length);
        ended_.count_down();
      });
    }
  }
  ~Hung() {
    may_end_ = true;
    ended_.wait();
  }

  std::size_t begun() const { return begun_; }

 private:
  void hang() {
    ++begun_;
    while (!may_end_) base::pause_ms(1);
  }

  std::atomic<std::size_t> begun_ = 0;
  std::atomic<bool> may_end_ = false;
  std::latch ended_;
};

class Sleep final : public Helpers::Job {
 public:
  void work() override {
    begun = true;
    while (!may_end) base::pause_ms(1);
  }
  void is_done() override { done = true; }
  std::atomic<bool> begun = false, may_end = false, done = false;
};

}  // namespace

TEST_CASE("calls that hang keep no other from a helper", "[events]") {
  const auto length = GENERATE(Length::kShort, Length::kLong);
  CAPTURE(length);
  std::atomic<bool> is_called = false;
  tests::LoopThread one;
  const Hung hung(one, length);
  one.begin([&] { base::may_block([&] { is_called = true; }, length); });
  CHECK(is_soon([&] { return is_called.load(); }));
  CHECK(is_soon([&] { return hung.begun() == kHung; }));
}

TEST_CASE("the threads that took the place of hung ones end", "[events]") {
  tests::LoopThread one;
  const std::size_t before = threads();
  {
    const Hung hung(one, Length::kShort);
    CHECK(is_soon([&] { return hung.begun() == kHung; }));
    CHECK(threads() >= before + kHung);
  }
  CHECK(is_soon([&] { return threads() <= before + Helpers::kMost; }));
  bool is_called = false;
  one.do_one([&] { base::may_block([&] { is_called = true; }); });
  CHECK(is_called);
}

TEST_CASE("what may wait for a helper takes half of them", "[events]") {
  std::vector<Sleep> jobs(Helpers::kMost);
  Helpers helpers(0);
  std::size_t taken = 0;
  for (Sleep& job : jobs) {
    if (helpers.submit_if_free(job) && is_soon([&] { return job.begun.load(); })) ++taken;
  }
  CHECK(taken == Helpers::kMost / 2);
  Sleep other;
  CHECK(helpers.submit(other, Length::kShort) == Helpers::Submitted::kBegins);
  other.may_end = true;
  CHECK(is_soon([&] { return other.done.load(); }));
  for (Sleep& job : jobs) job.may_end = true;
  CHECK(helpers.are_done_by(base::Deadline::in_ms(30'000)));
}

TEST_CASE("what may wait for a helper does not count calls that hang", "[events]") {
  std::vector<Sleep> jobs(Helpers::kMost / 2);
  Sleep other;
  Helpers helpers(1000);
  for (Sleep& job : jobs) helpers.submit(job, Length::kShort);
  CHECK_FALSE(helpers.submit_if_free(other));
  bool is_taken = false;  // a job is submitted once
  CHECK(is_soon([&] {
    helpers.look_for_hung();
    is_taken = is_taken || helpers.submit_if_free(other);
    return is_taken;
  }));
  other.may_end = true;
  for (Sleep& job : jobs) job.may_end = true;
  CHECK(helpers.are_done_by(base::Deadline::in_ms(30'000)));
}

TEST_CASE("long calls leave half of the helpers to short ones", "[events]") {
  std::vector<Sleep> jobs(Helpers::kMost);
  std::vector<Sleep> others(Helpers::kMost / 2);
  const auto begun = [](const std::vector<Sleep>& some) {
    const auto has_begun = [](const Sleep& one) { return one.begun.load(); };
    return static_cast<std::size_t>(std::count_if(some.begin(), some.end(), has_begun));
  };
  Helpers helpers(0);
  for (Sleep& job : jobs) helpers.submit(job, Length::kLong);
  CHECK(is_soon([&] { return begun(jobs) >= Helpers::kMost / 2; }));
  for (Sleep& other : others) helpers.submit(other, Length::kShort);
  CHECK(is_soon([&] { return begun(others) == others.size(); }));
  CHECK(begun(jobs) == Helpers::kMost / 2);
  for (Sleep& other : others) other.may_end = true;
  for (Sleep& job : jobs) job.may_end = true;
  CHECK(helpers.are_done_by(base::Deadline::in_ms(30'000)));
}
