// The file that --rights names, as plain data. docs/access.md describes its lines.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "base/result.h"

namespace fileserver {

// What a line allows. A greater one allows all that a lesser one does.
enum class Right : std::uint8_t { kNone, kRead, kReadWrite };

// As the file writes it, such as "read write".
std::string_view word_of(Right right);

struct RightsFile {
  struct Group {
    std::string name;
    std::vector<std::string> members;  // user names
    int line;
  };
  struct Rule {
    std::string who;   // a user name, a group behind "@", or "*"
    std::string path;  // as wire::is_file_name(), or empty for "/"; may have "%u" in it
    Right right;
    int line;
  };

  std::vector<Group> groups;
  std::vector<Rule> rules;  // every group in them is one of `groups`
};

// A larger file is refused.
inline constexpr std::size_t kMaxRightsBytes = std::size_t{1} << 20;

// No file can have a longer name.
inline constexpr std::size_t kMaxRightsPathBytes = 4095;

// kInvalid with "line N: what is wrong" for the first line that cannot be right.
base::Result<RightsFile> parse_rights(std::string_view text);

// The text of the file at the path. kInvalid, with the path, if it cannot be read or is too large.
base::Result<std::string> read_rights(const std::string& path);

}  // namespace fileserver
