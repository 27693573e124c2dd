#include "fileserver/files/kept_permissions.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cerrno>
#include <string_view>
#include <vector>

namespace fileserver {

namespace {

constexpr std::string_view kAcl = "system.posix_acl_access";
constexpr std::string_view kUserPrefix = "user.";
constexpr std::size_t kMostBytes = 64 << 10;  // of a list, or a value; the kernel allows no more

// A path that needs no descriptor of its own.
std::string path_in(int folder, const std::string& last) {
  return "/proc/self/fd/" + std::to_string(folder) + "/" + last;
}

bool copy_attribute(int fd, const std::string& path, const char* name, std::vector<char>& value) {
  const ssize_t size = ::lgetxattr(path.c_str(), name, value.data(), value.size());
  return size >= 0 && ::fsetxattr(fd, name, value.data(), static_cast<std::size_t>(size), 0) == 0;
}

// A folder may give each new file in it an ACL.
bool remove_acl(int fd) {
  return ::fremovexattr(fd, kAcl.data()) == 0 || errno == ENODATA || errno == EOPNOTSUPP;
}

// Returns whether the file has the ACL of the old one, or none if that has none.
bool keep_attributes(int fd, const std::string& path) {
  if (::llistxattr(path.c_str(), nullptr, 0) <= 0) return remove_acl(fd);
  std::vector<char> names(kMostBytes);
  std::vector<char> value(kMostBytes);
  const ssize_t size = ::llistxattr(path.c_str(), names.data(), names.size());
  if (size < 0) return false;
  bool has_acl = false;
  bool is_acl_kept = false;
  std::string_view left(names.data(), static_cast<std::size_t>(size));
  while (!left.empty()) {
    const std::string_view name = left.substr(0, left.find('\0'));
    left.remove_prefix(name.size() + 1);
    if (name != kAcl && !name.starts_with(kUserPrefix)) continue;
    const bool is_kept = copy_attribute(fd, path, name.data(), value);
    if (name != kAcl) continue;
    has_acl = true;
    is_acl_kept = is_kept;
  }
  return has_acl ? is_acl_kept : remove_acl(fd);
}

// Sets what the server may set of owner and group.
void keep_owner(int fd, const struct stat& old) {
  if (::fchown(fd, old.st_uid, old.st_gid) == 0) return;
  constexpr auto kSame = static_cast<uid_t>(-1);
  // A failure is seen by the status.
  [[maybe_unused]] const int ignored = ::fchown(fd, kSame, old.st_gid);
}

// Others may do with the new file what they might do with the old one.
mode_t mode_for(const struct stat& own, const struct stat& old, bool may_read) {
  constexpr mode_t kAll = 0777;
  mode_t mode = old.st_mode & kAll;
  const mode_t of_everybody = mode & S_IRWXO;
  if (own.st_gid != old.st_gid) mode &= ~static_cast<mode_t>(S_IRWXG) | of_everybody << 3;
  if (own.st_uid != old.st_uid && !may_read) mode &= ~static_cast<mode_t>(S_IRUSR);
  return mode;
}

}  // namespace

bool keep_permissions(int fd, int folder, const std::string& last) {
  struct stat old {};
  struct stat own {};
  if (::fstatat(folder, last.c_str(), &old, AT_SYMLINK_NOFOLLOW) != 0) return errno == ENOENT;
  if (::fstat(fd, &own) != 0) return false;
  if (own.st_uid != old.st_uid || own.st_gid != old.st_gid) keep_owner(fd, old);
  const bool is_acl_kept = keep_attributes(fd, path_in(folder, last));
  const bool may_read = ::faccessat(folder, last.c_str(), R_OK, AT_EACCESS) == 0;
  if (::fstat(fd, &own) != 0) return false;
  mode_t mode = mode_for(own, old, may_read);
  if (!is_acl_kept) mode &= ~static_cast<mode_t>(S_IRWXG);
  return (own.st_mode & 07777) == mode || ::fchmod(fd, mode) == 0;
}

}  // namespace fileserver
