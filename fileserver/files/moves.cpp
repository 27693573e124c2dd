#include "fileserver/files/moves.h"

#include <fcntl.h>

#include <cerrno>
#include <utility>

#include "base/log.h"
#include "fileserver/files/folder_copy.h"
#include "fileserver/files/folder_removals.h"
#include "fileserver/files/kept_permissions.h"
#include "fileserver/files/renames.h"
#include "fileserver/files/replaced.h"

namespace fileserver {

// Where something is, and where it is to be.
struct Moves::Ends {
  Location from = {};
  Location to = {};
  Current source = {};
  std::string from_name = {};  // both without links
  std::string to_name = {};
  bool are_apart = false;  // no rename leads to another file system

  bool share_folder() const { return from.folder.name == to.folder.name; }
};

namespace {

using Kind = Current::Kind;

constexpr int kRenameTries = 8;  // while other programs give names at the same moment

bool is_below(std::string_view name, std::string_view folder) {
  return name.size() > folder.size() && name.starts_with(folder) && name[folder.size()] == '/';
}

bool overlap(std::string_view one, std::string_view other) {
  return one == other || is_below(one, other) || is_below(other, one);
}

// Why what has the name may not be replaced. Nothing speaks against it: kGoOn.
UploadStatus refusal_of(const Current& target, const Moves::Job& job, bool is_folder) {
  if (target.failure != 0) return status_of_put(target.failure, "look at a file");
  if (target.kind == Kind::kOther) return UploadStatus::kConflict;
  if (!is_folder && job.to_has_slash && !target.is_folder()) return UploadStatus::kConflict;
  if (target.is_there() && !job.may_replace) return UploadStatus::kNotAllowed;
  return UploadStatus::kGoOn;
}

// Its folder, opened once more.
Location again(const Location& location) {
  const Fence::Folder& folder = location.folder;
  net::Fd fd(::fcntl(folder.fd.get(), F_DUPFD_CLOEXEC, 0));
  return {
      location.status, {std::move(fd), folder.name, folder.device, folder.inode}, location.last};
}

template <typename Try>
UploadStatus repeated(Try try_once) {
  for (int i = 0; i < kRenameTries; ++i) {
    if (const std::optional<UploadStatus> status = try_once()) return *status;
  }
  return UploadStatus::kConflict;
}

}  // namespace

UploadStatus Moves::find_ends(const Job& job, Ends& ends) const {
  if (job.from.empty()) return UploadStatus::kForbidden;
  ends.from = uploads_.locations_.find(job.from);
  if (ends.from.status == UploadStatus::kConflict) return UploadStatus::kNotFound;
  if (ends.from.status != UploadStatus::kGoOn) return ends.from.status;
  ends.source = ends.from.current();
  if (ends.source.failure == ENAMETOOLONG) return UploadStatus::kNotFound;
  if (ends.source.failure != 0) return status_of(ends.source.failure, "look at a file");
  if (ends.source.kind == Kind::kLink) return UploadStatus::kForbidden;
  if (!ends.source.is_there() || ends.source.kind == Kind::kOther ||
      (job.from_has_slash && !ends.source.is_folder()))
    return UploadStatus::kNotFound;
  ends.from_name = ends.from.name();
  if (job.to.empty()) return UploadStatus::kForbidden;
  ends.to = uploads_.locations_.find(job.to);
  if (ends.to.status != UploadStatus::kGoOn) return ends.to.status;
  ends.to_name = ends.to.name();
  return overlap(ends.from_name, ends.to_name) ? UploadStatus::kForbidden : UploadStatus::kGoOn;
}

UploadStatus Moves::move(const Job& job, const MayChange& may_change, const GoOn& go_on) {
  Ends ends;
  if (const auto status = find_ends(job, ends); status != UploadStatus::kGoOn) return status;
  Replaced replaced(uploads_, go_on.may_remove);
  if (job.may_replace) replaced.ask_for_place(ends.to);
  UploadStatus done = UploadStatus::kFailed;
  uploads_.files_.rename(ends.from_name, ends.to_name, [&] {
    const Turns::OfBoth turns(uploads_.turns_, ends.from_name, ends.to_name);
    done = repeated([&] { return try_to_move(ends, job, may_change, replaced); });
    return is_done(done);
  });
  replaced.ended(done, ends.to.last);
  if (ends.are_apart)
    return job.may_take_long ? move_by_copy(job, ends, go_on) : UploadStatus::kGoOn;
  if (!is_done(done)) return done;
  if (ends.source.is_folder() || replaced.is_there())
    uploads_.files_.forget_below({ends.from_name, ends.to_name});
  done = uploads_.synced(ends.to.fd(), replaced.place(), done);
  return is_done(done) && !ends.share_folder() ? uploads_.synced(ends.from.fd(), done) : done;
}

// Nothing if another program has been faster.
std::optional<UploadStatus> Moves::try_to_move(Ends& ends, const Job& job,
                                               const MayChange& may_change, Replaced& replaced) {
  const Locations& locations = uploads_.locations_;
  const Current source = ends.from.current();
  if (source.failure != 0) return status_of(source.failure, "look at a file");
  if (source.kind != ends.source.kind) return UploadStatus::kNotFound;
  if (!source.may_change(may_change)) return UploadStatus::kNotAllowed;
  const Current target = ends.to.current();
  if (const auto refusal = refusal_of(target, job, source.is_folder());
      refusal != UploadStatus::kGoOn)
    return refusal;
  const auto is_in_place = [&] {
    return locations.why_not_in_place(ends.from.folder) == 0 &&
           locations.why_not_in_place(ends.to.folder) == 0;
  };
  if (!is_in_place()) return UploadStatus::kConflict;
  const NameIn from{ends.from.fd(), ends.from.last};
  const NameIn to{ends.to.fd(), ends.to.last};
  if (source.kind == Kind::kFile) {
    const net::Fd fd(
        ::openat(from.folder, from.last.c_str(), O_RDONLY | O_NOFOLLOW | O_NONBLOCK | O_CLOEXEC));
    if (fd.is_open())
      uploads_.times_.keep_or_give(fd.get(), ends.to_name, source.version.modified_ns,
                                   target.version.modified_ns);
  }
  const bool needs_hiding = target.is_there() && (source.is_folder() || target.is_folder());
  if (needs_hiding && target.is_folder() && !job.may_take_long) return UploadStatus::kGoOn;
  bool is_new = needs_hiding || !target.is_there();
  if (needs_hiding) {
    if (const auto status = replaced.hide(ends.to); status != UploadStatus::kGoOn) return status;
  } else if (target.kind == Kind::kFile) {
    const auto hidden = replaced.keep_file(ends.to);
    if (hidden && *hidden != UploadStatus::kGoOn) return *hidden;
    is_new = hidden.has_value();
  }
  if (!(is_new ? rename_to_new(from, to) : rename_over(from, to))) {
    const int failure = errno;
    replaced.put_back(to.last);
    if (failure == EEXIST) return {};
    ends.are_apart = failure == EXDEV;
    if (ends.are_apart) return UploadStatus::kForbidden;
    return status_of_put(locations.errno_in(ends.to.folder, failure), "rename");
  }
  if (!is_in_place()) {
    rename_to_new(to, from);
    replaced.put_back(to.last);
    return UploadStatus::kConflict;
  }
  return target.is_there() ? UploadStatus::kReplaced : UploadStatus::kCreated;
}

UploadStatus Moves::move_by_copy(const Job& job, Ends& ends, const GoOn& go_on) {
  const FileVersion before = ends.from.current().version;  // it may have got another time
  const bool is_folder = ends.source.is_folder();
  FolderSum sum;
  const UploadStatus copied =
      is_folder ? copy_folder(job, ends, Depth::kAll, &sum, go_on) : copy_file(job, ends, go_on);
  if (!is_done(copied)) return copied;
  const auto is_same = [&](const FileVersion* now) {
    return now != nullptr && (is_folder || have_same_content(before, *now)) && go_on.may_leave();
  };
  const UploadStatus removed =
      is_folder ? FolderRemovals(uploads_).remove_copied(job.from, is_same, go_on.may_remove, sum)
                : uploads_.remove(job.from, is_same, Uploads::Keep::kNot);
  if (is_done(removed) || removed == UploadStatus::kNotFound) return copied;
  // Somebody has changed it since it was copied.
  return removed == UploadStatus::kNotAllowed ? UploadStatus::kConflict : removed;
}

// Follows a link.
UploadStatus Moves::find_source_of_copy(Job& job, std::string& real_name) const {
  const Location location = uploads_.locations_.find(job.from);
  if (location.status != UploadStatus::kGoOn || location.current().kind != Kind::kLink)
    return UploadStatus::kGoOn;
  if (const auto folder = uploads_.fence_->find_folder(job.from)) {
    real_name = folder->name;
  } else if (auto file = uploads_.fence_->real_name(job.from)) {
    real_name = std::move(*file);
  } else {
    return UploadStatus::kNotFound;
  }
  job.from = real_name;
  return UploadStatus::kGoOn;
}

UploadStatus Moves::copy(const Job& asked, Depth depth, const MayChange& may_change,
                         const GoOn& go_on) {
  Job job = asked;
  std::string real_name;
  Ends ends;
  UploadStatus status = find_source_of_copy(job, real_name);
  if (status == UploadStatus::kGoOn) status = find_ends(job, ends);
  if (status != UploadStatus::kGoOn) return status;
  if (!ends.source.may_change(may_change)) return UploadStatus::kNotAllowed;
  if (!job.may_take_long) return refusal_of(ends.to.current(), job, ends.source.is_folder());
  return ends.source.is_folder() ? copy_folder(job, ends, depth, nullptr, go_on)
                                 : copy_file(job, ends, go_on);
}

// A copy is an upload whose bytes come from another file.
UploadStatus Moves::copy_file(const Job& job, Ends& ends, const GoOn& go_on) {
  const Current target = ends.to.current();
  if (const auto refusal = refusal_of(target, job, false); refusal != UploadStatus::kGoOn)
    return refusal;
  const auto file = uploads_.fence_->open_file(ends.from_name, Fence::Links::kRefused);
  if (!file)
    return file.error().code == base::ErrorCode::kNotFound ? UploadStatus::kNotFound
                                                           : status_of(EIO, "open a file");
  const auto failed = [&](int failure) {
    return status_of_put(uploads_.locations_.errno_in(ends.to.folder, failure), "copy a file");
  };
  Upload upload;
  upload.file_ = TemporaryFile::in(ends.to.fd(), uploads_.kind_);
  if (!upload.file_.is_open() ||
      !upload.file_.reserve(static_cast<std::uint64_t>(file->version.size_bytes)))
    return failed(errno);
  const int fd = upload.file_.fd();
  if (const int failure = copy_one_version(file->fd.get(), fd, go_on.may_copy); failure != 0)
    return failed(failure);
  if (!keep_permissions(fd, ends.from.fd(), ends.from.last)) return failed(errno);
  upload.status_ = UploadStatus::kGoOn;
  upload.last_ = ends.to.last;
  Replaced replaced(uploads_, go_on.may_remove);
  const Location of_folder = again(ends.to);
  if (target.is_folder()) {
    if (!of_folder.folder.fd.is_open()) return failed(errno);
    replaced.ask_for_place(of_folder);
    upload.gives_way_ = {.hide =
                             [&] {
                               return replaced.is_there() ? UploadStatus::kConflict
                                                          : replaced.hide(of_folder);
                             },
                         .put_back = [&] { replaced.put_back(of_folder.last); }};
  }
  upload.folder_ = std::move(ends.to.folder);
  const auto may_replace = [&](const FileVersion* current) {
    return (current == nullptr || job.may_replace) && go_on.may_name();
  };
  const UploadStatus done =
      replaced.ended(uploads_.publish(std::move(upload), may_replace).status, of_folder.last);
  if (!replaced.is_there() || !is_done(done)) return done;
  uploads_.files_.forget_below({ends.to_name});
  const bool is_kept = replaced.place().is_taken();
  return is_kept ? uploads_.synced(replaced.place().name().folder, UploadStatus::kReplaced)
                 : UploadStatus::kReplaced;
}

UploadStatus Moves::copy_folder(const Job& job, const Ends& ends, Depth depth, FolderSum* sum,
                                const GoOn& go_on) {
  if (const auto refusal = refusal_of(ends.to.current(), job, true); refusal != UploadStatus::kGoOn)
    return refusal;
  const auto failed = [&](int failure) {
    return status_of_put(uploads_.locations_.errno_in(ends.to.folder, failure), "copy a folder");
  };
  HiddenEntry made = HiddenEntry::make_folder(
      ends.to.fd(), mode_of_copy(ends.from.fd(), ends.from.last), go_on.may_remove);
  if (!made.is_there()) return failed(errno);
  FolderCopy copy(*uploads_.fence_, uploads_.locations_, uploads_.times_, ends.to_name,
                  go_on.may_copy);
  if (const int failure = depth == Depth::kAll ? copy.copy(ends.from_name, made.fd()) : 0;
      failure != 0)
    return failed(failure);
  if (sum != nullptr) *sum = copy.sum();
  if (sum != nullptr && copy.has_left_out()) {
    base::log::warn("a folder is not moved to another file system, part of it cannot be copied {}",
                    base::log::quoted_long(ends.from_name));
    return UploadStatus::kForbidden;
  }
  Replaced replaced(uploads_, go_on.may_remove);
  if (job.may_replace) replaced.ask_for_place(ends.to);
  UploadStatus done = UploadStatus::kFailed;
  uploads_.files_.remove(ends.to_name, [&] {
    const Turns::Turn turn(uploads_.turns_, ends.to_name);
    done = go_on.may_name() ? repeated([&] { return try_to_name(ends.to, job, made, replaced); })
                            : UploadStatus::kNotAllowed;
    return is_done(done);
  });
  if (!is_done(replaced.ended(done, ends.to.last))) return done;
  uploads_.files_.forget_below({ends.to_name});
  return uploads_.synced(ends.to.fd(), replaced.place(), done);
}

// Nothing if another program has been faster.
std::optional<UploadStatus> Moves::try_to_name(const Location& to, const Job& job,
                                               HiddenEntry& made, Replaced& replaced) {
  const Locations& locations = uploads_.locations_;
  const Current target = to.current();
  if (const auto refusal = refusal_of(target, job, true); refusal != UploadStatus::kGoOn)
    return refusal;
  if (locations.why_not_in_place(to.folder) != 0) return UploadStatus::kConflict;
  if (target.is_there()) {
    if (const auto status = replaced.hide(to); status != UploadStatus::kGoOn) return status;
  }
  if (!made.give_name(to.last)) {
    const int failure = errno;
    replaced.put_back(to.last);
    if (failure == EEXIST) return {};
    return status_of_put(locations.errno_in(to.folder, failure), "name a folder");
  }
  if (locations.why_not_in_place(to.folder) != 0) {
    made.take_back(to.last);
    replaced.put_back(to.last);
    return UploadStatus::kConflict;
  }
  return target.is_there() ? UploadStatus::kReplaced : UploadStatus::kCreated;
}

}  // namespace fileserver
