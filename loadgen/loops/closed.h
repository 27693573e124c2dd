// A closed loop: a thread sends a request, waits for the whole reply, and sends the next one.
#pragma once

#include <cstdint>
#include <memory>

#include "loadgen/clients/think.h"
#include "loadgen/figures/think.h"
#include "loadgen/loops/client_loop.h"

namespace loadgen {

// With --think, a thread pauses before each request. The end of a phase cuts a pause: the thread
// does not wait for the end of a pause behind which there is nothing to do.
//
// Every request that begins inside the window counts, up to its end. A thread whose last such
// request has ended goes on with requests that do not count until all threads are as far (the
// cool-down). So the slowest requests are measured under the same load as all others.
//
// On a ramp the threads start one after the other. If they have a life, there is no cool-down: each
// ends by itself. See config/ramp.h.
class ClosedLoop final : public ClientLoop {
 public:
  // As ClientLoop(). `thread` is the number in the whole load.
  ClosedLoop(const Shared& shared, int thread)
      : ClientLoop(shared, thread),
        thread_(thread),
        think_(config_.think, config_.seed, clients_of_load(config_)) {}

 private:
  void send_requests(RunControl& control) override;
  bool must_end(RunControl& control) const;
  bool is_window_over(const RunControl& control, std::int64_t done) const;
  bool is_in_second_half(const RunControl& control, std::int64_t done) const;
  void begin_phase(std::int64_t now_ns);
  Pause pause(RunControl& control, std::int64_t end_ns);
  bool pause_in_window(RunControl& control);
  Exchange send_next(RunControl& control);
  void warm_up(RunControl& control);
  std::int64_t join_ramp(RunControl& control);
  template <typename Part>
  void note_in_plateau(const RunControl& control, const Part& part);
  void measure(RunControl& control);
  void cool_down(RunControl& control);

  const int thread_;
  const Think think_;
  std::int64_t sent_ = 0;            // requests, in all phases
  std::int64_t now_ns_ = 0;          // the end of the last request or pause, or the phase's begin
  bool is_first_of_phase_ = true;    // the next request is
  std::int64_t end_ns_ = INT64_MAX;  // of the thread's life
  PlateauTally* plateau_ = nullptr;  // that of the recorder, on a ramp
};

// `shared` must outlive it.
std::unique_ptr<Load> make_closed_load(const Shared& shared);

}  // namespace loadgen
