// One thread of the load: asks, waits for the whole reply, asks again.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "loadgen/client.h"
#include "loadgen/config.h"
#include "loadgen/course.h"
#include "loadgen/recorder.h"
#include "loadgen/workload.h"

namespace loadgen {

// Built before its thread starts, so that nothing is left to be made when the clock runs.
class ClosedLoop {
 public:
  // What is given by reference must outlive it. `thread` counts from 0.
  ClosedLoop(const Config& config, const net::SocketAddress& server, const Sources& sources,
             std::string_view run_name, int thread)
      : config_(config),
        workload_(config, run_name, thread),
        client_(config, server, sources, thread) {}

  // The body of the thread. Returns when the run is over.
  void run(Course& course) noexcept;

  // Any thread may call live(); the rest after the join.
  const Recorder& recorder() const { return recorder_; }
  const std::optional<std::string>& save_failure() const { return client_.save_failure(); }

 private:
  bool must_end(Course& course) const;
  Exchange carry_out_next(Course& course);
  void warm_up(Course& course);
  void measure(Course& course);

  const Config& config_;
  Workload workload_;
  Client client_;
  Recorder recorder_;
};

}  // namespace loadgen
