// What a run is told with: JSON for programs, a table for people.
#pragma once

#include <optional>
#include <string>

#include "loadgen/config.h"
#include "loadgen/run.h"
#include "loadgen/summary.h"

namespace loadgen {

struct Report {
  const Config& config;
  const RunResult& result;
  const Summary& summary;
  int sources;                         // local addresses that the connections came from
  std::optional<std::string> warning;  // of the host, at the end of the run
};

// With a line ending. No password, no user name.
std::string json_of(const Report& report);
std::string table_of(const Report& report);

// "denied 3, timeout 1"; "none".
std::string errors_text(const Summary& summary);

}  // namespace loadgen
