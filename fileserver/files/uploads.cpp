#include "fileserver/files/uploads.h"

#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <cerrno>
#include <string>
#include <utility>
#include <vector>

#include "base/file_io.h"
#include "fileserver/files/kept_permissions.h"

namespace fileserver {

namespace {

constexpr std::size_t kCopyBytes = 1 << 20;

bool is_replaceable(const Current& current) {
  return current.kind != Current::Kind::kFolder && current.kind != Current::Kind::kOther;
}

// What is made in a folder with this bit has its group.
void keep_group_of_folder(int fd, int folder) {
  struct stat status {};
  if (::fstat(folder, &status) != 0 || (status.st_mode & S_ISGID) == 0) return;
  constexpr auto kSame = static_cast<uid_t>(-1);
  [[maybe_unused]] const int ignored = ::fchown(fd, kSame, status.st_gid);
}

}  // namespace

UploadStatus Upload::write(std::span<const char> bytes) {
  if (status_ == UploadStatus::kGoOn && !file_.write(bytes)) status_ = status_of(errno, "write");
  return status_;
}

Uploads::Uploads(std::shared_ptr<const Fence> fence, Files& files)
    : fence_(std::move(fence)), files_(files), locations_(fence_) {
  const std::string root = fence_->root_path();
  remove_left_uploads(root);
  const net::Fd fd(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  kind_ = can_be_unnamed(fd.get()) ? TemporaryFile::Kind::kUnnamed : TemporaryFile::Kind::kNamed;
}

UploadStatus Uploads::synced(int folder, UploadStatus done) {
  return folder_syncs_.sync(folder) ? done : status_of(errno, "sync a folder");
}

Upload Uploads::find_place(std::string_view name, const MayChange& may_change) {
  Upload upload;
  Location location = locations_.find(name);
  upload.status_ = location.status;
  if (location.status != UploadStatus::kGoOn) return upload;
  upload.folder_ = std::move(location.folder);
  upload.last_ = std::move(location.last);
  const Current current = look_at(upload.folder_.fd.get(), upload.last_);
  if (current.failure != 0) {
    upload.status_ = status_of_put(current.failure, "look at a file");
  } else if (!is_replaceable(current)) {
    upload.status_ = UploadStatus::kConflict;
  } else if (!current.may_change(may_change)) {
    upload.status_ = UploadStatus::kNotAllowed;
  }
  return upload;
}

Upload Uploads::begin(std::string_view name, std::uint64_t room_bytes,
                      const MayChange& may_change) {
  Upload upload = find_place(name, may_change);
  if (upload.status_ != UploadStatus::kGoOn) return upload;
  upload.file_ = TemporaryFile::in(upload.folder_.fd.get(), kind_);
  if (!upload.file_.is_open() || !upload.file_.reserve(room_bytes))
    upload.status_ = status_of_put(locations_.errno_in(upload.folder_, errno), "make a file");
  return upload;
}

Upload Uploads::begin_with(std::string_view name, int fd, const MayChange& may_change,
                           std::function<void()> on_named) {
  Upload upload = find_place(name, may_change);
  if (upload.status_ != UploadStatus::kGoOn) return upload;
  upload.on_named_ = std::move(on_named);
  const int folder = upload.folder_.fd.get();
  upload.file_ = TemporaryFile::linked_in(folder, net::Fd(::fcntl(fd, F_DUPFD_CLOEXEC, 0)));
  if (upload.file_.is_open()) {
    keep_group_of_folder(upload.file_.fd(), folder);
    return upload;
  }
  struct stat status {};
  upload.file_ = TemporaryFile::in(folder, kind_);
  if (::fstat(fd, &status) != 0 || !upload.file_.is_open() ||
      !upload.file_.reserve(static_cast<std::uint64_t>(status.st_size))) {
    upload.status_ = status_of_put(locations_.errno_in(upload.folder_, errno), "make a file");
    return upload;
  }
  std::vector<char> piece(kCopyBytes);
  for (std::int64_t at = 0; at < status.st_size;) {
    const ssize_t size = base::read_at(fd, piece, at);
    if (size <= 0) {
      upload.status_ = status_of_put(size == 0 ? EIO : errno, "read an upload");
      return upload;
    }
    if (upload.write({piece.data(), static_cast<std::size_t>(size)}) != UploadStatus::kGoOn) break;
    at += size;
  }
  return upload;
}

Uploads::Published Uploads::publish(Upload upload, const MayChange& may_change) {
  if (upload.status_ != UploadStatus::kGoOn) return {upload.status_};
  const int fd = upload.file_.fd();
  if (!upload.file_.sync()) return {status_of_put(errno, "keep a file")};
  const std::string name =
      upload.folder_.name.empty() ? upload.last_ : upload.folder_.name + "/" + upload.last_;
  UploadStatus done = UploadStatus::kFailed;
  const auto named = files_.publish(name, fd, [&]() -> std::optional<NamedFile> {
    done = name_in_turn(upload, name, may_change);
    return is_done(done) ? std::optional(upload.named_) : std::nullopt;
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
    if (!is_replaceable(current)) return UploadStatus::kConflict;
    if (!current.may_change(may_change)) return UploadStatus::kNotAllowed;
    const bool is_new = current.kind == Current::Kind::kNothing;
    if (current.kind == Current::Kind::kFile &&
        !keep_permissions(upload.file_.fd(), upload.folder_.fd.get(), upload.last_))
      return status_of_put(locations_.errno_in(upload.folder_, errno),
                           "keep the permissions of a file");
    if (give_name(upload, name, current.version, is_new))
      return is_new ? UploadStatus::kCreated : UploadStatus::kReplaced;
    // Another program has just made a file of this name.
    if (errno != EEXIST)
      return status_of_put(locations_.errno_in(upload.folder_, errno), "name a file");
  }
}

bool Uploads::give_name(Upload& upload, const std::string& name, const FileVersion& replaced,
                        bool is_new) {
  TemporaryFile& file = upload.file_;
  errno = locations_.why_not_in_place(upload.folder_);
  if (errno != 0) return false;
  upload.named_.has_own_time = times_.give(file.fd(), name, replaced.modified_ns);
  upload.named_.version = version_of(file.fd());
  if (!(is_new ? file.create(upload.last_) : file.replace(upload.last_))) return false;
  if (const int failure = locations_.why_not_in_place(upload.folder_); failure != 0) {
    file.take_back(upload.last_);
    errno = failure;
    return false;
  }
  file.drop_replaced();
  if (upload.on_named_ && sync_folder(upload.folder_.fd.get()) == 0) upload.on_named_();
  return true;
}

UploadStatus Uploads::remove(std::string_view name, const MayChange& may_change) {
  if (name.empty()) return UploadStatus::kConflict;
  const Location location = locations_.find(name);
  if (location.status == UploadStatus::kConflict) return UploadStatus::kNotFound;
  if (location.status != UploadStatus::kGoOn) return location.status;
  const std::string real_name = location.name();
  UploadStatus done = UploadStatus::kFailed;
  const bool is_done = files_.remove(real_name, [&] {
    done = remove_in_turn(location, real_name, may_change);
    return done == UploadStatus::kReplaced;
  });
  return is_done ? synced(location.folder.fd.get(), done) : done;
}

UploadStatus Uploads::remove_in_turn(const Location& location, const std::string& name,
                                     const MayChange& may_change) {
  const Turns::Turn turn(turns_, name);
  const int folder = location.folder.fd.get();
  const Current current = look_at(folder, location.last);
  if (current.failure == ENAMETOOLONG) return UploadStatus::kNotFound;
  if (current.failure != 0) return status_of(current.failure, "look at a file");
  const bool is_folder = current.kind == Current::Kind::kFolder;
  if (current.kind == Current::Kind::kNothing || current.kind == Current::Kind::kOther)
    return UploadStatus::kNotFound;
  if (!current.may_change(may_change)) return UploadStatus::kNotAllowed;
  if (::unlinkat(folder, location.last.c_str(), is_folder ? AT_REMOVEDIR : 0) == 0)
    return UploadStatus::kReplaced;
  return status_of(errno == EEXIST ? ENOTEMPTY : locations_.errno_in(location.folder, errno),
                   "remove a file");
}

UploadStatus Uploads::make_folder(std::string_view name) {
  if (name.empty()) return UploadStatus::kExists;
  const Location location = locations_.find(name);
  if (location.status != UploadStatus::kGoOn) return location.status;
  constexpr mode_t kFolderMode = 0777;  // less what umask takes
  if (::mkdirat(location.folder.fd.get(), location.last.c_str(), kFolderMode) != 0)
    return errno == EEXIST
               ? UploadStatus::kExists
               : status_of_put(locations_.errno_in(location.folder, errno), "make a folder");
  return synced(location.folder.fd.get(), UploadStatus::kCreated);
}

}  // namespace fileserver
