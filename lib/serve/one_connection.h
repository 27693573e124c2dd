// Serves one connection, in any thread or process.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "serve/options.h"
#include "serve/stream.h"
#include "telemetry/counters.h"

namespace serve {

// Counters over the life of a server. Processes may share them.
struct Totals {
  std::atomic<std::uint64_t> connections = 0;  // relaxed: only added up
  std::atomic<std::uint64_t> requests = 0;
};

// Counts a connection from its construction to its end. One thread.
class CountedConnection {
 public:
  CountedConnection(const Stream& stream, Totals& totals);
  ~CountedConnection();
  CountedConnection(const CountedConnection&) = delete;
  CountedConnection& operator=(const CountedConnection&) = delete;

 private:
  const Stream& stream_;
  Totals& totals_;
  const telemetry::Raised open_;
};

// Lets the worker serve the connection, to its end or until it rests. If the worker throws, logs
// the reason and ends the connection; no exception leaves this function.
void serve_for_now(Worker& worker, Stream& stream);

// The same, to its end, and adds to the totals.
void serve_one_connection(Worker& worker, Stream& stream, Totals& totals);

// Logs a line such as "stopped connections=12 requests=30".
void log_totals(std::string_view event, const Totals& totals);

}  // namespace serve
