#include "loadgen/watch.h"

#include <poll.h>
#include <sys/signalfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/clock.h"
#include "base/stop_signals.h"

namespace loadgen {

namespace {

constexpr int kMostWaitMs = 60'000;

}  // namespace

Watch::Watch(RunControl& control, std::function<int()> look)
    : control_(control), look_(std::move(look)), signals_(base::open_stop_signals()) {}

void Watch::wait_for(int threads) {
  while (arrived_ < threads) wait(kMostWaitMs);
  arrived_ -= threads;
}

void Watch::wait_until(std::int64_t moment_ns) {
  const std::int64_t left_ms = (moment_ns - base::now_ns()) / base::kNsPerMs + 1;
  wait(static_cast<int>(std::clamp<std::int64_t>(left_ms, 0, kMostWaitMs)));
}

void Watch::sleep_until(std::int64_t moment_ns) {
  while (base::now_ns() < moment_ns && !control_.must_stop()) wait_until(moment_ns);
}

void Watch::wait(int at_most_ms) {
  at_most_ms = std::min(at_most_ms, look_());
  std::array<pollfd, 2> waiting{{{control_.arrivals.fd(), POLLIN, 0}, {signals_.get(), POLLIN, 0}}};
  if (::poll(waiting.data(), waiting.size(), at_most_ms) <= 0) return;
  if (waiting[1].revents != 0) stop_early();
  if (waiting[0].revents != 0) arrived_ += control_.arrivals.take();
}

// Lets the threads finish the requests under way. A second signal is no longer blocked and ends
// the program at once.
void Watch::stop_early() {
  signalfd_siginfo signal{};
  if (::read(signals_.get(), &signal, sizeof signal) != sizeof signal) return;
  stop_signal_ = static_cast<int>(signal.ssi_signo);
  control_.stop(End::kSignal);
  base::release_stop_signals();
}

}  // namespace loadgen
