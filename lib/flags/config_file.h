// The file that --config names.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace flags {

struct ConfigEntry {
  std::string name;
  std::string value;  // what follows the first "=", without the blanks around it
  int line;           // the number of its line, from 1
};

// Reads a file of lines `name = value`. Blank lines and lines that begin with # are skipped; a
// value may contain "=" and "#". Returns kInvalid if the file cannot be read or a line has another
// form. The context then names the file and the line.
base::Result<std::vector<ConfigEntry>> read_config_file(const std::string& path);

}  // namespace flags
