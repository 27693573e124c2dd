#include "fileserver/files/uploads.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>

#include "base/allowance.h"
#include "base/clock.h"
#include "base/error.h"
#include "base/log.h"
#include "fileserver/files/kept_permissions.h"
#include "fileserver/files/upload_name.h"

namespace fileserver {

namespace {

// What has a name now.
struct Current {
  enum class Kind { kNothing, kFile, kLink, kFolder, kOther };
  Kind kind = Kind::kNothing;
  FileVersion version = {};
  int failure = 0;  // an errno: nothing is known

  bool may_change(const MayChange& decide) const {
    constexpr FileVersion kNoFile{.size_bytes = -1};
    if (kind == Kind::kNothing) return decide(nullptr);
    return decide(kind == Kind::kFile ? &version : &kNoFile);
  }
  bool is_replaceable() const { return kind != Kind::kFolder && kind != Kind::kOther; }
};

Current look_at(int folder, const std::string& last) {
  struct stat status {};
  if (::fstatat(folder, last.c_str(), &status, AT_SYMLINK_NOFOLLOW) != 0)
    return {.failure = errno == ENOENT ? 0 : errno};
  if (S_ISREG(status.st_mode)) return {Current::Kind::kFile, version_in(status)};
  if (S_ISLNK(status.st_mode)) return {Current::Kind::kLink};
  return {S_ISDIR(status.st_mode) ? Current::Kind::kFolder : Current::Kind::kOther};
}

// The name of a file without links.
std::string name_in(const Fence::Folder& folder, const std::string& last) {
  return folder.name.empty() ? last : folder.name + "/" + last;
}

// Logs at most once a minute, because every PUT may fail then.
void warn_of_full_disk(const base::Error& error) {
  static base::Allowance allowance(1, 60 * base::kNsPerS);
  if (!allowance.take(base::now_ns())) return;
  base::log::warn("the served folder has no room for an upload reason={}",
                  base::log::quoted(error.context));
}

// In the same way, because a client may ask for it again and again.
void warn_of_missing_right(const base::Error& error) {
  static base::Allowance allowance(1, 60 * base::kNsPerS);
  if (!allowance.take(base::now_ns())) return;
  base::log::warn("a part of the served folder may not be changed reason={}",
                  base::log::quoted(error.context));
}

// What the errno of a change means. Logs what is no fault of the client.
UploadStatus status_of(int errno_value, std::string_view what) {
  const base::Error error = base::errno_error(base::ErrorCode::kInternal, what, errno_value);
  switch (errno_value) {
    case ENOSPC:
    case EDQUOT: warn_of_full_disk(error); return UploadStatus::kNoSpace;
    case EACCES:
    case EPERM:
    case EROFS: warn_of_missing_right(error); return UploadStatus::kForbidden;
    case EFBIG: return UploadStatus::kNoSpace;
    case EISDIR:
    case ENAMETOOLONG:
    case ENOTDIR:
    case ENOTEMPTY: return UploadStatus::kConflict;
    case ENOENT: return UploadStatus::kNotFound;
    default: break;
  }
  base::log::error("the served folder cannot be changed reason={}",
                   base::log::quoted(error.context));
  return UploadStatus::kFailed;
}

// The same for a file that is to be put into a folder: the folder may be gone by now.
UploadStatus status_of_put(int errno_value, std::string_view what) {
  const UploadStatus status = status_of(errno_value, what);
  return status == UploadStatus::kNotFound ? UploadStatus::kConflict : status;
}

}  // namespace

UploadStatus Upload::write(std::span<const char> bytes) {
  if (status_ == UploadStatus::kGoOn && !file_.write(bytes)) status_ = status_of(errno, "write");
  return status_;
}

Uploads::Uploads(std::shared_ptr<const Fence> fence, Files& files)
    : fence_(std::move(fence)), files_(files) {
  const std::string root = fence_->root_path();
  remove_left_uploads(root + "/");
  const net::Fd fd(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  kind_ = can_be_unnamed(fd.get()) ? TemporaryFile::Kind::kUnnamed : TemporaryFile::Kind::kNamed;
}

Uploads::Place Uploads::find_place(std::string_view name) const {
  if (is_upload_name(name)) return {UploadStatus::kConflict};
  const std::size_t slash = name.rfind('/');
  const std::size_t last = slash == std::string_view::npos ? 0 : slash + 1;
  auto folder = fence_->find_folder(name.substr(0, last == 0 ? 0 : slash));
  if (!folder && folder.error().code != base::ErrorCode::kNotFound) {
    base::log::error("a folder cannot be opened reason={}",
                     base::log::quoted(folder.error().context));
    return {UploadStatus::kFailed};
  }
  if (!folder || name.empty()) return {UploadStatus::kConflict};
  // A descriptor of O_PATH cannot be synced, and at the end there may be no other one.
  net::Fd fd(::openat(folder->fd.get(), ".", O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  if (!fd.is_open()) return {status_of_put(errno_in(*folder, errno), "open a folder")};
  folder->fd = std::move(fd);
  return {UploadStatus::kGoOn, std::move(*folder), std::string(name.substr(last))};
}

UploadStatus Uploads::synced(int folder, UploadStatus done) {
  return folder_syncs_.sync(folder) ? done : status_of(errno, "sync a folder");
}

Upload Uploads::begin(std::string_view name, std::uint64_t room_bytes,
                      const MayChange& may_change) {
  Upload upload;
  Place place = find_place(name);
  upload.status_ = place.status;
  if (place.status != UploadStatus::kGoOn) return upload;
  upload.folder_ = std::move(place.folder);
  upload.last_ = std::move(place.last);
  const Current current = look_at(upload.folder_.fd.get(), upload.last_);
  if (current.failure != 0) {
    upload.status_ = status_of_put(current.failure, "look at a file");
  } else if (!current.is_replaceable()) {
    upload.status_ = UploadStatus::kConflict;
  } else if (!current.may_change(may_change)) {
    upload.status_ = UploadStatus::kNotAllowed;
  } else {
    upload.file_ = TemporaryFile::in(upload.folder_.fd.get(), kind_);
    if (!upload.file_.is_open() || !upload.file_.reserve(room_bytes))
      upload.status_ = status_of_put(errno_in(upload.folder_, errno), "make a file");
  }
  return upload;
}

Uploads::Published Uploads::publish(Upload upload, const MayChange& may_change) {
  if (upload.status_ != UploadStatus::kGoOn) return {upload.status_};
  const int fd = upload.file_.fd();
  if (!upload.file_.sync()) return {status_of_put(errno, "keep a file")};
  const std::string name = name_in(upload.folder_, upload.last_);
  UploadStatus done = UploadStatus::kFailed;
  const auto named = files_.publish(name, fd, [&]() -> std::optional<NamedFile> {
    done = name_in_turn(upload, name, may_change);
    const bool is_done = done == UploadStatus::kCreated || done == UploadStatus::kReplaced;
    return is_done ? std::optional(upload.named_) : std::nullopt;
  });
  if (!named) return {done};
  return {synced(upload.folder_.fd.get(), done), named->version};
}

UploadStatus Uploads::name_in_turn(Upload& upload, const std::string& name,
                                   const MayChange& may_change) {
  const Turns::Turn turn(turns_, name);
  for (;;) {
    const Current current = look_at(upload.folder_.fd.get(), upload.last_);
    if (current.failure != 0) return status_of_put(current.failure, "look at a file");
    if (!current.is_replaceable()) return UploadStatus::kConflict;
    if (!current.may_change(may_change)) return UploadStatus::kNotAllowed;
    const bool is_new = current.kind == Current::Kind::kNothing;
    if (current.kind == Current::Kind::kFile &&
        !keep_permissions(upload.file_.fd(), upload.folder_.fd.get(), upload.last_))
      return status_of_put(errno_in(upload.folder_, errno), "keep the permissions of a file");
    if (give_name(upload, name, current.version, is_new))
      return is_new ? UploadStatus::kCreated : UploadStatus::kReplaced;
    // Another program has just made a file of this name.
    if (errno != EEXIST) return status_of_put(errno_in(upload.folder_, errno), "name a file");
  }
}

bool Uploads::give_name(Upload& upload, const std::string& name, const FileVersion& replaced,
                        bool is_new) {
  TemporaryFile& file = upload.file_;
  errno = why_not_in_place(upload.folder_);
  if (errno != 0) return false;
  upload.named_.has_own_time = times_.give(file.fd(), name, replaced.modified_ns);
  upload.named_.version = version_of(file.fd());
  if (!(is_new ? file.create(upload.last_) : file.replace(upload.last_))) return false;
  if (const int failure = why_not_in_place(upload.folder_); failure != 0) {
    file.take_back(upload.last_);
    errno = failure;
    return false;
  }
  file.drop_replaced();
  return true;
}

// 0 if the folder still has the name under which it was found. Otherwise an errno: ENOENT if
// somebody has renamed it since, or moved it out of the served folder.
int Uploads::why_not_in_place(const Fence::Folder& folder) const {
  const auto found = fence_->find_folder(folder.name);
  if (!found) return found.error().code == base::ErrorCode::kNotFound ? ENOENT : EAGAIN;
  const FileVersion there = version_of(found->fd.get());
  const FileVersion own = version_of(folder.fd.get());
  const bool is_same =
      found->name == folder.name && there.device == own.device && there.inode == own.inode;
  return is_same ? 0 : ENOENT;
}

// The sandbox does not let the server change a folder that was moved out of the served one. That
// folder is gone, and no right is missing.
int Uploads::errno_in(const Fence::Folder& folder, int errno_value) const {
  if (errno_value != EACCES && errno_value != EPERM) return errno_value;
  return why_not_in_place(folder) == ENOENT ? ENOENT : errno_value;
}

UploadStatus Uploads::remove(std::string_view name, Removed what, const MayChange& may_change) {
  if (name.empty()) return UploadStatus::kConflict;
  const Place place = find_place(name);
  if (place.status == UploadStatus::kConflict) return UploadStatus::kNotFound;
  if (place.status != UploadStatus::kGoOn) return place.status;
  const std::string real_name = name_in(place.folder, place.last);
  UploadStatus done = UploadStatus::kFailed;
  const bool is_done = files_.remove(real_name, [&] {
    done = remove_in_turn(place, real_name, what, may_change);
    return done == UploadStatus::kReplaced;
  });
  return is_done ? synced(place.folder.fd.get(), done) : done;
}

UploadStatus Uploads::remove_in_turn(const Place& place, const std::string& name, Removed what,
                                     const MayChange& may_change) {
  const Turns::Turn turn(turns_, name);
  const int folder = place.folder.fd.get();
  const Current current = look_at(folder, place.last);
  if (current.failure == ENAMETOOLONG) return UploadStatus::kNotFound;
  if (current.failure != 0) return status_of(current.failure, "look at a file");
  const bool is_folder = current.kind == Current::Kind::kFolder;
  if (current.kind == Current::Kind::kNothing || current.kind == Current::Kind::kOther ||
      (what == Removed::kFolder && !is_folder))
    return UploadStatus::kNotFound;
  if (!current.may_change(may_change)) return UploadStatus::kNotAllowed;
  if (::unlinkat(folder, place.last.c_str(), is_folder ? AT_REMOVEDIR : 0) == 0)
    return UploadStatus::kReplaced;
  return status_of(errno == EEXIST ? ENOTEMPTY : errno_in(place.folder, errno), "remove a file");
}

UploadStatus Uploads::make_folder(std::string_view name) {
  if (name.empty()) return UploadStatus::kExists;
  const Place place = find_place(name);
  if (place.status != UploadStatus::kGoOn) return place.status;
  constexpr mode_t kMode = 0777;  // less what umask takes
  if (::mkdirat(place.folder.fd.get(), place.last.c_str(), kMode) != 0)
    return errno == EEXIST ? UploadStatus::kExists
                           : status_of_put(errno_in(place.folder, errno), "make a folder");
  return synced(place.folder.fd.get(), UploadStatus::kCreated);
}

}  // namespace fileserver
