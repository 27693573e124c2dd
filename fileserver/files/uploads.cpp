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
#include "fileserver/files/open_folder.h"
#include "fileserver/files/renames.h"

namespace fileserver {

namespace {

constexpr std::size_t kCopyBytes = 1 << 20;

bool is_replaceable(const Current& current) {
  return current.kind != Current::Kind::kFolder && current.kind != Current::Kind::kOther;
}

bool is_kept(const Current& current) {
  return current.kind == Current::Kind::kFile || current.kind == Current::Kind::kFolder;
}

bool is_empty(int folder, const std::string& last) {
  const OpenFolder list = open_names(folder, last.c_str());
  return list != nullptr && next_entry(list) == nullptr && errno == 0;
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
  while (status_ == UploadStatus::kGoOn && !file_.write(bytes)) {
    const int failure = errno;
    const bool is_full = failure == ENOSPC || failure == EDQUOT;
    if (is_full && makes_room() && trash_->remove_oldest()) continue;
    status_ = status_of(failure, "write");
  }
  return status_;
}

bool Upload::makes_room() const {
  return trash_ != nullptr && trash_->makes_room_in(folder_.fd.get());
}

Uploads::Uploads(std::shared_ptr<const Fence> fence, Files& files, Trash* trash)
    : fence_(std::move(fence)), files_(files), trash_(trash), locations_(fence_) {
  const std::string root = fence_->root_path();
  remove_left_uploads(root);
  const net::Fd fd(::open(root.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  kind_ = can_be_unnamed(fd.get()) ? TemporaryFile::Kind::kUnnamed : TemporaryFile::Kind::kNamed;
}

UploadStatus Uploads::synced(int folder, UploadStatus done) {
  return folder_syncs_.sync(folder) ? done : status_of(errno, "sync a folder");
}

UploadStatus Uploads::synced(int folder, const TrashPlace& place, UploadStatus done) {
  done = synced(folder, done);
  return is_done(done) && place.is_taken() ? synced(place.name().folder, done) : done;
}

TrashPlace Uploads::place_for(const std::string& name, int replacing) {
  return trash_ == nullptr ? TrashPlace() : trash_->begin(name, replacing);
}

// What is announced and not yet sent removes nothing from the trash.
bool Uploads::has_room(Upload& upload, std::uint64_t room_bytes) const {
  if (upload.file_.reserve(room_bytes)) return true;
  const int failure = errno;
  if (failure == ENOSPC && upload.makes_room())
    return upload.file_.reserve(room_bytes, trash_->removable_bytes(upload.folder_.fd.get()));
  errno = failure;
  return false;
}

// The oldest things in the trash make room for it.
bool Uploads::make_file(Upload& upload) const {
  for (;;) {
    upload.file_ = TemporaryFile::in(upload.folder_.fd.get(), kind_);
    if (upload.file_.is_open()) return true;
    const int failure = errno;
    if (failure == ENOSPC && upload.makes_room() && trash_->remove_oldest()) continue;
    errno = failure;
    return false;
  }
}

Upload Uploads::find_place(std::string_view name, const MayChange& may_change) {
  Upload upload;
  Location location = locations_.find(name);
  upload.status_ = location.status;
  if (location.status != UploadStatus::kGoOn) return upload;
  upload.folder_ = std::move(location.folder);
  upload.last_ = std::move(location.last);
  upload.trash_ = trash_;
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
  if (!make_file(upload) || !has_room(upload, room_bytes))
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
  if (::fstat(fd, &status) != 0 || !make_file(upload) ||
      !has_room(upload, static_cast<std::uint64_t>(status.st_size))) {
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

Uploads::Published Uploads::publish(Upload& upload, const MayChange& may_change) {
  if (upload.status_ != UploadStatus::kGoOn) return {upload.status_};
  const int fd = upload.file_.fd();
  if (!upload.file_.sync()) return {status_of_put(errno, "keep a file")};
  const std::string name =
      upload.folder_.name.empty() ? upload.last_ : upload.folder_.name + "/" + upload.last_;
  if (trash_ != nullptr &&
      look_at(upload.folder_.fd.get(), upload.last_).kind == Current::Kind::kFile)
    upload.place_ = place_for(name, fd);
  UploadStatus done = UploadStatus::kFailed;
  const auto named = files_.publish(name, fd, [&]() -> std::optional<NamedFile> {
    done = name_in_turn(upload, name, may_change);
    return is_done(done) ? std::optional(upload.named_) : std::nullopt;
  });
  if (!named) return {done};
  return {synced(upload.folder_.fd.get(), upload.place_, done), named->version,
          upload.has_asked_time_};
}

UploadStatus Uploads::name_in_turn(Upload& upload, const std::string& name,
                                   const MayChange& may_change) {
  const Turns::Turn turn(turns_, name);
  const UploadStatus done = try_to_name(upload, name, may_change);
  if (!is_done(done) && upload.gives_way_.put_back) upload.gives_way_.put_back();
  return done;
}

UploadStatus Uploads::try_to_name(Upload& upload, const std::string& name,
                                  const MayChange& may_change) {
  for (;;) {
    const Current current = look_at(upload.folder_.fd.get(), upload.last_);
    if (current.failure != 0) return status_of_put(current.failure, "look at a file");
    const bool gives_way = current.is_folder() && upload.gives_way_.hide;
    if (!gives_way && !is_replaceable(current)) return UploadStatus::kConflict;
    if (!current.may_change(may_change)) return UploadStatus::kNotAllowed;
    if (gives_way) {
      if (const auto hidden = upload.gives_way_.hide(); hidden != UploadStatus::kGoOn)
        return hidden;
      continue;
    }
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

// The old file and the new one exchange their names, so the old one goes to the trash in the moment
// in which it is replaced. NFS and file systems in user space cannot do that; there the old file
// has a second name for a moment, or is not kept where they have no links either.
bool Uploads::replace(Upload& upload, const std::string& name) {
  using Taken = TrashPlace::Taken;
  TemporaryFile& file = upload.file_;
  TrashPlace& place = upload.place_;
  if (!place.was_asked_for()) place = place_for(name, file.fd());
  if (!place.is_open())
    return place.failed(place.failure()) != Taken::kFailed && file.replace(upload.last_);
  if (trash_->can_exchange()) {
    if (!upload.is_in_place_) upload.is_in_place_ = file.hide_as(place.name());
    if (!upload.is_in_place_ && place.failed(errno) == Taken::kFailed) return false;
    return file.replace(upload.last_);
  }
  const int folder = upload.folder_.fd.get();
  static_cast<void>(place.take_link({folder, upload.last_}));
  if (file.replace(upload.last_)) return true;
  const int failure = errno;
  place.give_back(upload.last_);
  errno = failure;
  return false;
}

bool Uploads::give_name(Upload& upload, const std::string& name, const FileVersion& replaced,
                        bool is_new) {
  TemporaryFile& file = upload.file_;
  errno = locations_.why_not_in_place(upload.folder_);
  if (errno != 0) return false;
  upload.has_asked_time_ =
      upload.asked_s_ && times_.give_within(*upload.asked_s_, file.fd(), replaced.modified_ns);
  upload.named_.has_own_time =
      upload.has_asked_time_ || times_.give(file.fd(), name, replaced.modified_ns);
  upload.named_.version = version_of(file.fd());
  if (!(is_new ? file.create(upload.last_) : replace(upload, name))) return false;
  if (const int failure = locations_.why_not_in_place(upload.folder_); failure != 0) {
    file.take_back(upload.last_);
    upload.place_.give_back(upload.last_);
    errno = failure;
    return false;
  }
  if (upload.is_in_place_ && file.keep_replaced()) upload.place_.note_taken();
  file.drop_replaced();
  if (upload.on_named_ && sync_folder(upload.folder_.fd.get()) == 0) upload.on_named_();
  return true;
}

UploadStatus Uploads::remove(std::string_view name, const MayChange& may_change, Keep keep) {
  if (name.empty()) return UploadStatus::kConflict;
  const Location location = locations_.find(name);
  if (location.status == UploadStatus::kConflict) return UploadStatus::kNotFound;
  if (location.status != UploadStatus::kGoOn) return location.status;
  const std::string real_name = location.name();
  TrashPlace place;
  if (trash_ == nullptr) keep = Keep::kNot;
  if (keep == Keep::kInTrash && is_kept(location.current())) place = place_for(real_name);
  UploadStatus done = UploadStatus::kFailed;
  const bool is_done = files_.remove(real_name, [&] {
    done = remove_in_turn(location, real_name, may_change, {keep, place});
    return done == UploadStatus::kReplaced;
  });
  return is_done ? synced(location.folder.fd.get(), place, done) : done;
}

UploadStatus Uploads::remove_in_turn(const Location& location, const std::string& name,
                                     const MayChange& may_change, const Kept& kept) {
  const Turns::Turn turn(turns_, name);
  const int folder = location.folder.fd.get();
  const Current current = look_at(folder, location.last);
  if (current.failure == ENAMETOOLONG) return UploadStatus::kNotFound;
  if (current.failure != 0) return status_of(current.failure, "look at a file");
  const bool is_folder = current.kind == Current::Kind::kFolder;
  if (current.kind == Current::Kind::kNothing || current.kind == Current::Kind::kOther)
    return UploadStatus::kNotFound;
  if (!current.may_change(may_change)) return UploadStatus::kNotAllowed;
  TrashPlace& place = kept.place;
  const bool goes_to_trash = kept.keep == Keep::kInTrash && is_kept(current);
  if (goes_to_trash && !place.was_asked_for()) place = place_for(name);
  if (place.is_open() && is_folder && !is_empty(folder, location.last))
    return UploadStatus::kConflict;
  switch (goes_to_trash ? place.take({folder, location.last}) : TrashPlace::Taken::kCannotBeKept) {
    case TrashPlace::Taken::kYes: return UploadStatus::kReplaced;
    case TrashPlace::Taken::kFailed:
      return status_of(locations_.errno_in(location.folder, errno), "move to the trash");
    case TrashPlace::Taken::kCannotBeKept: break;
  }
  if (::unlinkat(folder, location.last.c_str(), is_folder ? AT_REMOVEDIR : 0) == 0)
    return UploadStatus::kReplaced;
  return status_of(errno == EEXIST ? ENOTEMPTY : locations_.errno_in(location.folder, errno),
                   "remove a file");
}

UploadStatus Uploads::put_back(const Trashed& trashed) {
  const Location location = locations_.find(trashed.name);
  if (location.status != UploadStatus::kGoOn) return location.status;
  const net::Fd trash = trash_->folder();
  if (!trash.is_open()) return status_of(errno, "open the trash");
  const std::string real_name = location.name();
  UploadStatus done = UploadStatus::kFailed;
  files_.remove(real_name, [&] {
    const Turns::Turn turn(turns_, real_name);
    done = put_back_in_turn(trashed, location, trash.get());
    return is_done(done);
  });
  if (!is_done(done)) return done;
  if (trashed.is_folder) files_.forget_below({real_name});
  done = synced(location.fd(), done);
  if (is_done(done)) done = synced(trash.get(), done);
  trash_->forget(trashed.id);
  return done;
}

UploadStatus Uploads::put_back_in_turn(const Trashed& trashed, const Location& location,
                                       int trash) {
  if (locations_.why_not_in_place(location.folder) != 0) return UploadStatus::kConflict;
  const NameIn kept{trash, trashed.id};
  const NameIn old{location.fd(), location.last};
  if (!rename_to_new(kept, old)) {
    if (errno == EEXIST) return UploadStatus::kConflict;
    return status_of(locations_.errno_in(location.folder, errno), "put something back");
  }
  if (locations_.why_not_in_place(location.folder) == 0) return UploadStatus::kCreated;
  rename_to_new(old, kept);
  return UploadStatus::kConflict;
}

UploadStatus Uploads::make_folder(std::string_view name) {
  if (name.empty()) return UploadStatus::kExists;
  const Location location = locations_.find(name);
  if (location.status != UploadStatus::kGoOn) return location.status;
  constexpr mode_t kFolderMode = 0777;  // less what umask takes
  const std::string real_name = location.name();
  {
    const Turns::Turn turn(turns_, real_name);
    if (::mkdirat(location.folder.fd.get(), location.last.c_str(), kFolderMode) != 0)
      return errno == EEXIST
                 ? UploadStatus::kExists
                 : status_of_put(locations_.errno_in(location.folder, errno), "make a folder");
  }
  return synced(location.folder.fd.get(), UploadStatus::kCreated);
}

}  // namespace fileserver
