#include "authserver/private_file.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <cstdio>
#include <filesystem>
#include <system_error>

#include "net/fd.h"

namespace authserver {

namespace {

using base::ErrorCode;

base::Error cannot_write(const std::string& path, int errno_value) {
  return base::errno_error(ErrorCode::kInternal, "write " + path, errno_value);
}

// Follows symbolic links, because the new file must not replace a link. Refuses anything that is
// not a regular file, such as a device.
base::Result<std::string> end_of(const std::string& path) {
  std::error_code failure;
  const auto end = std::filesystem::weakly_canonical(path, failure);
  if (failure) return cannot_write(path, failure.value());
  const auto status = std::filesystem::status(end, failure);
  if (std::filesystem::exists(status) && !std::filesystem::is_regular_file(status)) {
    return base::Error{ErrorCode::kInternal, "write " + path + ": it is not a regular file"};
  }
  return end.string();
}

base::Status fill_new_file(const std::string& path,
                           const std::function<base::Status(int fd)>& fill) {
  const net::Fd file(
      ::open(path.c_str(), O_WRONLY | O_CREAT | O_EXCL | O_CLOEXEC, S_IRUSR | S_IWUSR));
  if (!file.is_open()) return cannot_write(path, errno);
  if (const auto filled = fill(file.get()); !filled) return filled;
  return ::fsync(file.get()) == 0 ? base::Status(base::kDone) : cannot_write(path, errno);
}

}  // namespace

base::Status write_private_file(const std::string& path,
                                const std::function<base::Status(int fd)>& fill) {
  const auto end = end_of(path);
  if (!end) return end.error();
  const std::string part = *end + ".part";
  ::unlink(part.c_str());  // left by a run that was killed
  auto written = fill_new_file(part, fill);
  if (written && ::rename(part.c_str(), end->c_str()) != 0) written = cannot_write(path, errno);
  if (!written) ::unlink(part.c_str());
  return written;
}

}  // namespace authserver
