#include "fileserver/files/replaced.h"

#include <cerrno>
#include <utility>

namespace fileserver {

void Replaced::ask_for_place(const Location& location) {
  if (uploads_.trash_ == nullptr || keep_ == Uploads::Keep::kNot) return;
  const Current current = location.current();
  const bool is_kept = current.is_folder() || current.kind == Current::Kind::kFile;
  if (is_kept && !place_.was_asked_for()) place_ = uploads_.place_for(location.name());
}

UploadStatus Replaced::hide(const Location& location) {
  ask_for_place(location);
  if (place_.was_asked_for() && location.current().kind != Current::Kind::kLink) {
    switch (place_.take({location.fd(), location.last})) {
      case TrashPlace::Taken::kYes: return UploadStatus::kGoOn;
      case TrashPlace::Taken::kFailed:
        return status_of_put(uploads_.locations_.errno_in(location.folder, errno),
                             "move to the trash");
      case TrashPlace::Taken::kCannotBeKept: break;
    }
  }
  hidden_ = HiddenEntry::hide(location.fd(), location.last, may_remove_);
  if (hidden_.is_there()) return UploadStatus::kGoOn;
  return status_of_put(uploads_.locations_.errno_in(location.folder, errno), "hide a folder");
}

std::optional<UploadStatus> Replaced::keep_file(const Location& to) {
  ask_for_place(to);
  if (!place_.was_asked_for()) return {};
  if (place_.take_link({to.fd(), to.last}) != TrashPlace::Taken::kFailed) return {};
  return hide(to);
}

void Replaced::put_back(const std::string& last) {
  if (hidden_.is_there() && !hidden_.give_name(last))
    of_earlier_tries_.push_back(std::move(hidden_));
  hidden_ = {};
  place_.give_back(last);
  if (place_.is_taken()) place_ = {};  // it stays in the trash
}

UploadStatus Replaced::ended(UploadStatus done, const std::string& last) {
  if (!is_done(done)) {
    for (HiddenEntry& hidden : of_earlier_tries_) hidden.keep(last);
  }
  return done;
}

}  // namespace fileserver
