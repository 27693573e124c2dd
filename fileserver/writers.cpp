#include "fileserver/writers.h"

#include <fmt/format.h>

#include <cerrno>
#include <fstream>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "base/text_lines.h"
#include "wire/request.h"

namespace fileserver {

namespace {

using base::Error;
using base::ErrorCode;

bool is_blank(std::string_view line) {
  return line.find_first_not_of(" \t") == std::string_view::npos;
}

}  // namespace

base::Result<Writers::Names> Writers::names_in_file() const {
  errno = 0;
  std::ifstream file(path_);
  Names names;
  std::string line;
  for (int number = 1; base::read_line(file, line); ++number) {
    if (line.ends_with('\r')) line.pop_back();
    if (is_blank(line)) continue;
    if (!wire::is_valid_user(line))
      return Error{ErrorCode::kInvalid, fmt::format("{} line {}: not a user name", path_, number)};
    names.insert(line);
  }
  if (file.is_open() && !file.bad()) return names;
  const int reason = errno == 0 ? EIO : errno;
  return Error{ErrorCode::kInvalid, path_ + ": " + std::generic_category().message(reason)};
}

base::Status Writers::read() {
  if (path_.empty()) return base::kDone;
  auto names = names_in_file();
  if (!names) return names.error();
  const base::Lock lock(mutex_);
  names_.swap(*names);
  return base::kDone;
}

void Writers::read_again() {
  if (path_.empty()) return;
  if (const auto done = read(); done) {
    base::log::info("the writers were read again");
  } else {
    base::log::error("the writers stay as they were reason={}",
                     base::log::quoted(done.error().context));
  }
}

bool Writers::may_write(std::string_view user) const { return path_.empty() || has(user); }

bool Writers::has(std::string_view user) const {
  const base::Lock lock(mutex_);
  return names_.contains(user);
}

}  // namespace fileserver
