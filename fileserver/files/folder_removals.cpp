#include "fileserver/files/folder_removals.h"

#include <cerrno>
#include <string>

#include "fileserver/files/folder_copy.h"
#include "fileserver/files/replaced.h"

namespace fileserver {

namespace {

// Nothing speaks against it: kGoOn.
UploadStatus refusal_of(const Location& location, const MayChange& may_change) {
  const Current current = location.current();
  if (current.failure != 0 && current.failure != ENAMETOOLONG)
    return status_of(current.failure, "look at a folder");
  if (!current.is_folder()) return UploadStatus::kNotFound;
  return current.may_change(may_change) ? UploadStatus::kGoOn : UploadStatus::kNotAllowed;
}

}  // namespace

UploadStatus FolderRemovals::find(std::string_view name, Location& location) const {
  if (name.empty()) return UploadStatus::kForbidden;
  location = uploads_.locations_.find(name);
  return location.status == UploadStatus::kConflict ? UploadStatus::kNotFound : location.status;
}

UploadStatus FolderRemovals::why_not(std::string_view name, const MayChange& may_change) const {
  Location location;
  const UploadStatus found = find(name, location);
  return found == UploadStatus::kGoOn ? refusal_of(location, may_change) : found;
}

UploadStatus FolderRemovals::hide(const Location& location, const MayChange& may_change,
                                  Replaced& folder) {
  const std::string name = location.name();
  UploadStatus done = UploadStatus::kFailed;
  uploads_.files_.remove(name, [&] {
    const Turns::Turn turn(uploads_.turns_, name);
    done = refusal_of(location, may_change);
    if (done == UploadStatus::kGoOn) done = folder.hide(location);
    return done == UploadStatus::kGoOn;
  });
  if (done == UploadStatus::kGoOn) uploads_.files_.forget_below({name});
  return done;
}

void FolderRemovals::put_back(const Location& location, Replaced& folder) {
  const std::string name = location.name();
  uploads_.files_.remove(name, [&] {
    const Turns::Turn turn(uploads_.turns_, name);
    folder.put_back(location.last);
    return true;
  });
  uploads_.files_.forget_below({name});
}

UploadStatus FolderRemovals::remove(std::string_view name, const MayChange& may_change,
                                    const MayGoOn& may_remove, Uploads::Keep keep) {
  Location location;
  if (const auto found = find(name, location); found != UploadStatus::kGoOn) return found;
  Replaced folder(uploads_, may_remove, keep);
  folder.ask_for_place(location);
  const UploadStatus done = hide(location, may_change, folder);
  return done == UploadStatus::kGoOn
             ? uploads_.synced(location.fd(), folder.place(), UploadStatus::kReplaced)
             : done;
}

// Out of sight it changes no more, so it is looked at there.
UploadStatus FolderRemovals::remove_copied(std::string_view name, const MayChange& may_change,
                                           const MayGoOn& may_remove, const FolderSum& sum) {
  Location location;
  if (const auto found = find(name, location); found != UploadStatus::kGoOn) return found;
  Replaced folder(uploads_, may_remove, Uploads::Keep::kNot);
  const UploadStatus done = hide(location, may_change, folder);
  if (done != UploadStatus::kGoOn) return done;
  if (sum_below(folder.hidden().fd(), may_remove) == sum)
    return uploads_.synced(location.fd(), UploadStatus::kReplaced);
  put_back(location, folder);
  return folder.ended(UploadStatus::kConflict, location.last);
}

}  // namespace fileserver
