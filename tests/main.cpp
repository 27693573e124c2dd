// The unit tests' main function, and a listener that counts them.
//
// Version 2 of Catch2 makes the main function in the file that asks for it. Version 3 brings a
// library with one.
#if !__has_include(<catch2/catch_all.hpp>)
#define CATCH_CONFIG_MAIN
#endif
#include "tests/catch.h"

#include <cstdio>

namespace {

#if __has_include(<catch2/catch_all.hpp>)
using Listener = Catch::EventListenerBase;
#else
using Listener = Catch::TestEventListenerBase;
#endif

// Prints "N passed, N failed" when all tests have run. tests/run-all reads this line, because the
// closing line of Catch2 differs between its versions.
class Count : public Listener {
 public:
  using Listener::Listener;

  void testRunEnded(const Catch::TestRunStats& run) override {
    const auto& cases = run.totals.testCases;
    std::printf("\n%lu passed, %lu failed\n", static_cast<unsigned long>(cases.passed),
                static_cast<unsigned long>(cases.failed));
    std::fflush(stdout);
  }
};

CATCH_REGISTER_LISTENER(Count)

}  // namespace
