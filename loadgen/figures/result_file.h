// Where the results are written, for --json and --distribution.
#pragma once

#include <string>
#include <string_view>

#include "base/result.h"

namespace loadgen {

// For both: `flag` begins the text of an error. "-" is standard output, and with an empty path
// nothing is done.

// Fails if `path` cannot be written, as far as that can be told without changing anything. Called
// before the run, so that a wrong path is reported before the time is spent.
base::Status check_result_file(std::string_view flag, const std::string& path);

// A regular file is replaced by renaming, so it holds its former content until it holds all of
// `text`. A device or a FIFO is written as it is.
base::Status write_result_file(std::string_view flag, const std::string& path,
                               std::string_view text);

}  // namespace loadgen
