#include "base/stop_signals.h"

#include <signal.h>

#include <thread>

#include "tests/catch.h"

TEST_CASE("a stop signal waits until it is taken, and can be seen meanwhile", "[base]") {
  for (const int signal : {SIGTERM, SIGINT}) {
    CAPTURE(signal);
    // In a thread of its own, because a signal is blocked per thread.
    std::thread([signal] {
      base::hold_stop_signals();
      CHECK_FALSE(base::stop_was_asked_for());
      ::raise(signal);
      CHECK(base::stop_was_asked_for());
      base::wait_for_stop_signal();
      CHECK_FALSE(base::stop_was_asked_for());
    }).join();
  }
}
