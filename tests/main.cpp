// The unit tests' main function, and a listener that counts them, gives each a time limit, and
// ignores SIGPIPE as all programs do.
//
// Version 2 of Catch2 makes the main function in the file that asks for it. Version 3 brings a
// library with one.
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_MAIN
#endif
#include "tests/catch.h"

#include <unistd.h>
#include <csignal>
#include <cstdio>
#include <cstdlib>
#include <string>

namespace {

#if __has_include(<catch2/catch_all.hpp>)
using Listener = Catch::EventListenerBase;
#else
using Listener = Catch::TestEventListenerBase;
#endif

// Far above the slowest test with a sanitizer on a busy machine.
unsigned limit_s() {
  const char* set = std::getenv("TURNSTILE_TEST_LIMIT_S");
  return set ? static_cast<unsigned>(std::atoi(set)) : 300;
}

// The line that is printed when the test that runs now does not end. It exists before the signal
// comes, because a signal handler may not allocate.
std::string last_words;

void end_hanging_test(int) {
  [[maybe_unused]] const auto written =
      ::write(STDOUT_FILENO, last_words.data(), last_words.size());
  ::_exit(1);
}

// Ends the program if one test takes longer than limit_s(). A test that waits for what never comes
// would otherwise hang the caller, and nobody would know which one it is.
void limit_time_of(const std::string& test) {
  ::alarm(0);
  last_words = "\nFAILED " + test + "\nno end after " + std::to_string(limit_s()) + " s\n";
  std::signal(SIGALRM, end_hanging_test);
  ::alarm(limit_s());
}

// Prints "FAILED name" behind the checks of a test that failed, and "N passed, N failed" when all
// tests have run. tests/runner/unit.py reads these lines, because the output of Catch2 differs
// between its versions.
class Count : public Listener {
 public:
  using Listener::Listener;

  void testRunStarting(const Catch::TestRunInfo&) override { std::signal(SIGPIPE, SIG_IGN); }

  void testCaseStarting(const Catch::TestCaseInfo& test) override {
    running_ = test.name;
    limit_time_of(running_);
  }

  void testCaseEnded(const Catch::TestCaseStats& test) override {
    if (test.totals.assertions.failed == 0) return;
    std::printf("\nFAILED %s\n", running_.c_str());
    std::fflush(stdout);
  }

  void testRunEnded(const Catch::TestRunStats& run) override {
    const auto& cases = run.totals.testCases;
    std::printf("\n%lu passed, %lu failed\n", static_cast<unsigned long>(cases.passed),
                static_cast<unsigned long>(cases.failed));
    std::fflush(stdout);
  }

 private:
  std::string running_;
};

CATCH_REGISTER_LISTENER(Count)

// Only runs when it is asked for by its tag: tests/scripts/test_runner.py sees that it is ended.
TEST_CASE("a test that hangs", "[.hangs]") {
  for (;;) ::pause();
}

}  // namespace
