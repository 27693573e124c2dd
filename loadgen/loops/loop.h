// One thread of the load. When it sends its requests is up to the kind of loop.
#pragma once

#include <optional>
#include <string>

#include "loadgen/config/config.h"
#include "loadgen/figures/recorder.h"
#include "loadgen/run_control.h"

namespace loadgen {

// Built before its thread starts, so that no preparation falls into the measured window.
class Loop {
 public:
  explicit Loop(const Config& config) : recorder_(!config.series.empty()) {}
  virtual ~Loop() = default;
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // The body of the thread. Returns when the run is over.
  void run(RunControl& control) noexcept {
    prepare();
    control.arrivals.arrive();
    carry_load(control);
    control.arrivals.arrive();
    control.end_gate.wait();
  }

  // Any thread may call recorder().live() and recorder().series(). Everything else only after the
  // thread was joined.
  const Recorder& recorder() const { return recorder_; }

  // Why the run cannot have a result, in one line, if this thread found such a reason. It has
  // nothing to do with the server, whose failures are counted. Only after the thread was joined.
  virtual std::optional<std::string> failure() const = 0;

 protected:
  // All that can be done before the run begins.
  virtual void prepare() = 0;

  // All phases of the run. Waits at their gates.
  virtual void carry_load(RunControl& control) = 0;

  Recorder recorder_;
};

}  // namespace loadgen
