#include "flags/config_file.h"

#include <fmt/core.h>

#include <cerrno>
#include <fstream>
#include <string_view>

#include "base/text.h"
#include "base/text_lines.h"

namespace flags {

namespace {

constexpr std::string_view kBlanks = " \t\r";

}  // namespace

base::Result<std::vector<ConfigEntry>> read_config_file(const std::string& path) {
  const auto unreadable = [&path] {
    return base::errno_error(base::ErrorCode::kInvalid, "--config: " + path, errno);
  };
  std::ifstream file(path);
  if (!file) return unreadable();
  std::vector<ConfigEntry> entries;
  std::string line;
  for (int number = 1; base::read_line(file, line); ++number) {
    const std::string_view text = base::trimmed(line, kBlanks);
    if (text.empty() || text.starts_with('#')) continue;
    const std::size_t equals = text.find('=');
    const std::string_view name = base::trimmed(text.substr(0, equals), kBlanks);
    if (equals == std::string_view::npos || name.empty()) {
      return base::Error{base::ErrorCode::kInvalid,
                         fmt::format("{} line {}: not `flag = value`", path, number)};
    }
    entries.push_back(
        {std::string(name), std::string(base::trimmed(text.substr(equals + 1), kBlanks)), number});
  }
  if (file.bad()) return unreadable();  // opening a folder succeeds, reading it fails
  return entries;
}

}  // namespace flags
