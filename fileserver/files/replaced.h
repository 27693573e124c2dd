// What a change of a name takes out of the way: into the trash, or to a hidden name.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fileserver/files/hidden_entry.h"
#include "fileserver/files/locations.h"
#include "fileserver/files/trash_place.h"
#include "fileserver/files/uploads.h"

namespace fileserver {

// Of one change of one name, which may need several tries. What is hidden is removed at the end,
// as long as `may_remove` says so. Threads: one.
class Replaced {
 public:
  // `uploads` must outlive this.
  Replaced(Uploads& uploads, MayGoOn may_remove, Uploads::Keep keep = Uploads::Keep::kInTrash)
      : uploads_(uploads), may_remove_(std::move(may_remove)), keep_(keep) {}

  // A place in the trash, if what is there is to have one. Before the turn of the name, because it
  // writes to the disk.
  void ask_for_place(const Location& location);

  // To the trash, or to a hidden name. A link never goes to the trash. kGoOn, or why not.
  UploadStatus hide(const Location& location);

  // Of a file that a rename is about to replace. It goes there by a second name, so that its first
  // one always leads to a file. Where it may have none, such as one of somebody else, it is hidden,
  // as a folder is. Nothing: the rename may go on.
  std::optional<UploadStatus> keep_file(const Location& to);

  // Whoever has made something of this name meanwhile keeps it. A later try may replace that too.
  void put_back(const std::string& last);

  // The end. Nothing that somebody has put there goes with a change that has not been made. Returns
  // `done`.
  UploadStatus ended(UploadStatus done, const std::string& last);

  bool is_there() const { return hidden_.is_there() || place_.is_taken(); }
  const HiddenEntry& hidden() const { return hidden_; }
  const TrashPlace& place() const { return place_; }

 private:
  Uploads& uploads_;
  const MayGoOn may_remove_;
  const Uploads::Keep keep_;
  HiddenEntry hidden_;
  TrashPlace place_;  // if it goes to the trash
  std::vector<HiddenEntry> of_earlier_tries_;
};

}  // namespace fileserver
