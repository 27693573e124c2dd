// What every connection goes through, whichever thread or process owns it.
#pragma once

#include <atomic>
#include <cstdint>
#include <string_view>

#include "serve/connection.h"
#include "serve/options.h"

namespace serve {

// Counted over the life of a server. May lie in memory that processes share.
struct Totals {
  std::atomic<std::uint64_t> connections = 0;  // relaxed: only added up
  std::atomic<std::uint64_t> requests = 0;
};

// The outermost function of a connection: no exception leaves it.
void serve_one_connection(Worker& worker, Connection& connection, Totals& totals);

// "stopped connections=12 requests=30"
void log_totals(std::string_view event, const Totals& totals);

}  // namespace serve
