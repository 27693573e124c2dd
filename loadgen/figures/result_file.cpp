#include "loadgen/figures/result_file.h"

#include <unistd.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iostream>
#include <system_error>

namespace loadgen {

namespace {

namespace fs = std::filesystem;

bool is_file(const std::string& path) { return !path.empty() && path != "-"; }

base::Error failed(std::string_view flag, const std::string& what, int errno_value) {
  return base::errno_error(base::ErrorCode::kInternal, std::string(flag) + ": " + what,
                           errno_value);
}

// The file behind symbolic links, which renaming would replace.
std::string target_of(const std::string& path) {
  std::error_code missing;
  const fs::path target = fs::canonical(path, missing);
  return missing ? path : target.string();
}

bool is_replaced(const std::string& target) {
  std::error_code ignored;
  const fs::file_status status = fs::status(target, ignored);
  return !fs::exists(status) || fs::is_regular_file(status);
}

}  // namespace

base::Status check_result_file(std::string_view flag, const std::string& path) {
  if (!is_file(path)) return base::kDone;
  const std::string target = target_of(path);
  std::error_code ignored;
  if (fs::is_directory(target, ignored)) return failed(flag, "write " + path, EISDIR);
  if (::access(target.c_str(), W_OK) != 0 && errno != ENOENT)
    return failed(flag, "write " + path, errno);
  const std::string folder = (fs::path(target).parent_path() / ".").string();
  if (is_replaced(target) && ::access(folder.c_str(), W_OK | X_OK) != 0)
    return failed(flag, "write " + path, errno);
  return base::kDone;
}

base::Status write_result_file(std::string_view flag, const std::string& path,
                               std::string_view text) {
  if (path.empty()) return base::kDone;
  if (path == "-") {
    if (std::cout << text << std::flush) return base::kDone;
    return failed(flag, "write " + path, errno);
  }
  const std::string target = target_of(path);
  const std::string draft =
      is_replaced(target) ? target + "." + std::to_string(::getpid()) + ".part" : target;
  std::ofstream file(draft);
  if (!(file << text << std::flush)) return failed(flag, "write " + draft, errno);
  file.close();
  if (draft != target && ::rename(draft.c_str(), target.c_str()) != 0)
    return failed(flag, "rename " + draft + " to " + target, errno);
  return base::kDone;
}

}  // namespace loadgen
