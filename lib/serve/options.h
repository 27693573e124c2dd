// What both servers let their user decide about connections.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>

namespace serve {

class Connection;

struct Options {
  int max_connections = 4096;
  int spare =
      0;  // threads or processes that may wait for the next connection; 0: one made for each
  std::int64_t idle_timeout_ms = 60'000;  // 0: never
  std::int64_t drain_ms = 5'000;
};

// How long one blocking call on a connection sleeps before it looks at the clock and at what has
// moved.
inline std::int64_t io_slice_ms(std::int64_t idle_timeout_ms) {
  return idle_timeout_ms == 0 ? 0 : (idle_timeout_ms + 3) / 4;
}

// Serves connections, one after another, in one thread or process that owns it.
class Worker {
 public:
  virtual ~Worker() = default;

  // Returns when the conversation is over.
  virtual void serve(Connection& connection) = 0;
};

// Called in the thread or process that the worker will belong to.
using MakeWorker = std::function<std::unique_ptr<Worker>()>;

}  // namespace serve
