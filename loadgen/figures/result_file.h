// Where the JSON is written, for --json.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace loadgen {

// For both: "-" is standard output, and with an empty path nothing is done.

// Fails if `path` cannot be written, as far as that can be told without changing anything. Called
// before the run, so that a wrong path is reported before the time is spent.
base::Status check_result_file(const std::string& path);

// A regular file is replaced by renaming, so it holds its former content until it holds all of
// `text`. A device or a FIFO is written as it is.
base::Status write_result_file(const std::string& path, std::string_view text);

}  // namespace loadgen
