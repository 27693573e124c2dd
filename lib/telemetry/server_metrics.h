// The metrics that both servers have.
#pragma once

#include <string_view>

#include "telemetry/board.h"
#include "telemetry/page.h"

namespace telemetry {

// How a server names its requests in the label `verb`.
struct Naming {
  std::string_view program;  // "fileserver"
  std::string_view log_in;   // "get" or "auth"
  bool has_files;            // whether it answers file names
};

// Writes what was counted about requests and connections. Every label that can occur is written,
// also if its value is still 0. So rates are right from the first request on.
void write_server_metrics(Page& page, const Naming& naming, const Totals& totals,
                          int most_connections);

// Writes when the certificate ends, in seconds since 1970, and what became of handshakes.
void write_tls_metrics(Page& page, std::int64_t not_after_s, const Totals& totals);

}  // namespace telemetry
