#include "loadgen/run_control.h"

#include <thread>

#include "base/clock.h"
#include "tests/catch.h"

using base::kNsPerMs;
using base::kNsPerS;
using loadgen::RunControl;

TEST_CASE("the window ends early when the run is stopped", "[loadgen]") {
  RunControl control(1);
  control.window_end_ns = base::now_ns() + 3600 * kNsPerS;
  CHECK_FALSE(control.must_stop());
  CHECK(control.end_ns() == control.window_end_ns);
  control.stop(loadgen::End::kSignal);
  CHECK(control.must_stop());
  const std::int64_t end_ns = control.end_ns();
  CHECK(end_ns <= base::now_ns());
  control.stop(loadgen::End::kSignal);
  CHECK(control.end_ns() == end_ns);
}

TEST_CASE("a run that is stopped after its window does not make the window longer", "[loadgen]") {
  RunControl control(1);
  control.window_end_ns = base::now_ns() - 1;
  control.stop(loadgen::End::kSignal);
  CHECK(control.end_ns() == control.window_end_ns);
}

TEST_CASE("a thread sleeps until its time, which has come when it wakes", "[loadgen]") {
  RunControl control(1);
  const std::int64_t until_ns = base::now_ns() + 3 * kNsPerMs;
  CHECK(control.sleep_until(until_ns));
  CHECK(base::now_ns() >= until_ns);
  CHECK(control.sleep_until(until_ns));
}

TEST_CASE("stopping the run wakes a thread that sleeps", "[loadgen]") {
  RunControl control(1);
  bool has_come = true;
  std::thread sleeper([&] { has_come = control.sleep_until(base::now_ns() + 3600 * kNsPerS); });
  control.stop(loadgen::End::kSignal);
  sleeper.join();
  CHECK_FALSE(has_come);
}

TEST_CASE("all threads have counted when each has said so", "[loadgen]") {
  RunControl control(2);
  control.finish_counting();
  CHECK_FALSE(control.has_all_counted());
  control.finish_counting();
  CHECK(control.has_all_counted());
}

TEST_CASE("a thread that sleeps in the cool-down wakes when all have counted", "[loadgen]") {
  RunControl control(2);
  bool has_come = true;
  std::thread sleeper([&] { has_come = control.sleep_until(base::now_ns() + 10 * kNsPerS); });
  control.finish_counting();
  control.finish_counting();
  sleeper.join();
  CHECK_FALSE(has_come);
  CHECK_FALSE(control.must_stop());
}

TEST_CASE("the first reason to stop is the one that counts", "[loadgen]") {
  loadgen::RunControl control(1);
  CHECK_FALSE(control.why_stopped());
  control.stop(loadgen::End::kFiles);
  control.stop(loadgen::End::kFailed);
  CHECK(control.why_stopped() == loadgen::End::kFiles);
}
