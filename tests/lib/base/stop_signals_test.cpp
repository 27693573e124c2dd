#include "base/stop_signals.h"

#include <signal.h>

#include <thread>

#include "tests/catch.h"

TEST_CASE("a stop signal waits until it is taken, and can be seen meanwhile", "[serve]") {
  for (const int signal : {SIGTERM, SIGINT}) {
    CAPTURE(signal);
    // In a thread, as what is blocked is blocked for one thread.
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
