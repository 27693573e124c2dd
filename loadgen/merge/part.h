// The result of one tester, read back from its JSON.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"
#include "loadgen/config/config.h"
#include "loadgen/config/share.h"
#include "loadgen/figures/figures.h"

namespace loadgen::merge {

// The figures are those that add up. What does not, such as the fairness of a burst, is left out.
struct Part {
  std::string name;  // for messages: the name of its file
  Config config;     // the request, the kind of load and how much of it; not the files and accounts
  Figures figures;
  std::uint64_t requests = 0;  // that succeeded
  double elapsed_s = 0;
  std::vector<std::string> invalid_because;

  // Of one load that several testers send; nothing for a load of its own.
  std::optional<Share> share;

  // The size of all files, if it is known that they have one size.
  std::optional<std::uint64_t> file_bytes;
};

// Reads what json_of() has written. Fails in one line, which begins with `name`, if the text is
// something else, is of another schema, or has no distribution.
//
// The text may be of a stranger: memory is bounded by its length, and no number in it is trusted.
base::Result<Part> read_part(const std::string& name, std::string_view text);

}  // namespace loadgen::merge
