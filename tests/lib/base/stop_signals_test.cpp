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

TEST_CASE("neither a closed pipe nor a file size limit ends the program", "[base]") {
  for (const int signal : {SIGPIPE, SIGXFSZ}) ::signal(signal, SIG_DFL);
  base::hold_stop_signals();
  for (const int signal : {SIGPIPE, SIGXFSZ}) {
    struct sigaction action {};
    ::sigaction(signal, nullptr, &action);
    CHECK(action.sa_handler == SIG_IGN);
  }
  base::release_stop_signals();
}
