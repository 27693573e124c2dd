// The file behind --config.
#pragma once

#include <string>
#include <vector>

#include "base/result.h"

namespace flags {

struct ConfigEntry {
  std::string name;
  std::string
      value;  // everything behind the first "=", without the blanks around it; may hold "=" and "#"
  int line;
};

// Lines `name = value`; blank lines and lines that begin with # are passed over. kInvalid, with the
// file's name and the line in the context, for a file that cannot be read or a line of another
// form.
base::Result<std::vector<ConfigEntry>> read_config_file(const std::string& path);

}  // namespace flags
