// The metrics of a server's processes, as every Prometheus client has them: process_...
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <vector>

#include "telemetry/page.h"

namespace telemetry {

// What /proc says about a server. One thread.
class ProcessMetrics {
 public:
  // `server` is the process that the operator started.
  explicit ProcessMetrics(pid_t server) : server_(server) {}

  // Writes the metrics. `owners` may name the server and its children; others are passed over.
  //
  // CPU time, memory and threads are sums over the server and these children. The CPU time of
  // children that ended is included. Memory that children share with the server counts once.
  // Descriptors are those of the server itself.
  void write(Page& page, const std::vector<pid_t>& owners);

 private:
  const pid_t server_;
  std::int64_t most_ticks_ = 0;  // a child that ends between two looks must not lower the sum
};

}  // namespace telemetry
