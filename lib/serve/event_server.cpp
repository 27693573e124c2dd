#include <poll.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string_view>
#include <vector>

#include "base/completes.h"
#include "base/log.h"
#include "base/stop_signals.h"
#include "serve/event_side.h"
#include "serve/servers.h"
#include "telemetry/board.h"

namespace serve {

namespace {

class EventServer {
 public:
  EventServer(std::vector<Front> fronts, const Options& options)
      : common_(options, std::move(fronts)), stop_signals_(base::open_stop_signals()) {}

  bool run() {
    if (!stop_signals_.is_open()) {
      base::log::error("cannot watch signals: out of descriptors or memory");
      return false;
    }
    const bool is_started = base::completes("cannot start the loops", [this] { start(); });
    if (is_started) {
      pollfd stop{stop_signals_.get(), POLLIN, 0};
      while (::poll(&stop, 1, -1) <= 0) {
      }
    }
    drain(is_started);
    if (!is_started) return false;
    log_totals("stopped", common_.totals);
    return true;
  }

 private:
  static constexpr int kGraceMs = 1000;

  void start() {
    for (int i = 0; i < loops_of(common_.options); ++i)
      common_.sides.push_back(std::make_unique<Side>(common_));
    for (const auto& side : common_.sides) side->start();
  }

  void drain(bool is_started) {
    common_.is_draining = true;
    if (common_.options.counters != nullptr) common_.options.counters->tell_draining();
    for (const auto& one : common_.entrances) one->acceptor.stop();
    for (const auto& side : common_.sides) side->drain();
    const std::int64_t drain_ms = common_.options.drain_ms;
    if (!common_.wait_until_all_left(base::Deadline::in_ms(drain_ms))) {
      std::atomic<int> count = 0;
      for (const auto& side : common_.sides) side->cut(count);
      const bool all_left = common_.wait_until_all_left(base::Deadline::in_ms(kGraceMs));
      base::log::warn("connections cut at the end of the drain time connections={} drain_ms={}",
                      count.load(), drain_ms);
      if (!all_left) exit_now("stopped while requests still wait for another server", is_started);
    }
    for (const auto& side : common_.sides) side->stop();
    for (const auto& side : common_.sides) {
      if (side->thread.joinable()) side->thread.join();
    }
    // Nobody waits for a file to be closed, but what was begun is done if that is possible.
    if (!common_.helpers.are_done_by(base::Deadline::in_ms(kGraceMs)))
      exit_now("stopped while files are not closed yet", is_started);
  }

  [[noreturn]] void exit_now(std::string_view event, bool is_started) {
    log_totals(event, common_.totals);
    common_.options.before_exit();
    ::_exit(is_started ? 0 : 1);
  }

  EventCommon common_;
  const net::Fd stop_signals_;
};

}  // namespace

bool serve_with_events(std::vector<Front> fronts, const Options& options) {
  return EventServer(std::move(fronts), options).run();
}

}  // namespace serve
