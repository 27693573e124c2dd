// Serves one connection, in any thread or process.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "serve/options.h"
#include "serve/stream.h"

namespace serve {

// Counters over the life of a server. Processes may share them.
struct Totals {
  std::atomic<std::uint64_t> connections = 0;  // relaxed: only added up
  std::atomic<std::uint64_t> requests = 0;
};

// Lets the worker serve the connection, and adds to the totals. If the worker throws, logs the
// reason and ends the connection; no exception leaves this function.
void serve_one_connection(Worker& worker, Stream& stream, Totals& totals);

// Logs a line such as "stopped connections=12 requests=30".
void log_totals(std::string_view event, const Totals& totals);

}  // namespace serve
