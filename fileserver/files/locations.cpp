#include "fileserver/files/locations.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <utility>

#include "base/log.h"
#include "fileserver/files/upload_name.h"

namespace fileserver {

bool Current::may_change(const MayChange& decide) const {
  constexpr FileVersion kNoFile{.size_bytes = -1};
  if (kind == Kind::kNothing) return decide(nullptr);
  return decide(kind == Kind::kFile ? &version : &kNoFile);
}

Current look_at(int folder, const std::string& last) {
  struct stat status {};
  if (::fstatat(folder, last.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
    return {.failure = errno == ENOENT ? 0 : errno};
  if (S_ISREG(status.st_mode)) return {Current::Kind::kFile, version_in(status)};
  if (S_ISLNK(status.st_mode)) return {Current::Kind::kLink};
  return {S_ISDIR(status.st_mode) ? Current::Kind::kFolder : Current::Kind::kOther};
}

Location Locations::find(std::string_view name) const {
  if (is_upload_name(name) || fence_->leads_to_ours(name)) return {UploadStatus::kConflict};
  const std::size_t slash = name.rfind('/');
  const std::size_t last = slash == std::string_view::npos ? 0 : slash + 1;
  auto folder = fence_->find_folder(name.substr(0, last == 0 ? 0 : slash));
  if (!folder && folder.error().code != base::ErrorCode::kNotFound) {
    base::log::error("a folder cannot be opened reason={}",
                     base::log::quoted_long(folder.error().context));
    return {UploadStatus::kFailed};
  }
  if (!folder || name.empty()) return {UploadStatus::kConflict};
  // A descriptor of O_PATH cannot be synced, and at the end there may be no other one.
  net::Fd fd(::openat(folder->fd.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open()) return {status_of_put(errno_in(*folder, errno), "open a folder")};
  folder->fd = std::move(fd);
  return {UploadStatus::kGoOn, std::move(*folder), std::string(name.substr(last))};
}

int Locations::why_not_in_place(const Fence::Folder& folder) const {
  const auto has_its_name = fence_->has_its_name(folder);
  if (!has_its_name) return EAGAIN;
  return *has_its_name ? 0 : ENOENT;
}

int Locations::errno_in(const Fence::Folder& folder, int errno_value) const {
  if (errno_value != EACCES && errno_value != EPERM) return errno_value;
  return why_not_in_place(folder) == ENOENT ? ENOENT : errno_value;
}

}  // namespace fileserver
