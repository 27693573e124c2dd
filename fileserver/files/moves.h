// Moves and copies files and folders of the served folder: MOVE, COPY.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "fileserver/files/hidden_entry.h"
#include "fileserver/files/locations.h"
#include "fileserver/files/upload_status.h"
#include "fileserver/files/uploads.h"

namespace fileserver {

class FolderSum;
class Replaced;

// Any thread. A file or a folder gets its new name in one step, when all of it is there, and nobody
// sees a part of it. A folder that is replaced goes out of sight in one step: to the trash if there
// is one, as a replaced file does. Once a function returns kCreated or kReplaced, the change is on
// disk, and Files::open() opens what is there now.
//
// Who asks for a change says how long it may go on. A copy that ends early has changed nothing. A
// removal of what was replaced that ends early leaves a hidden folder (FolderRemovals).
class Moves {
 public:
  // What is moved or copied to where. A name that ends with a slash is that of a
  // folder, where something is.
  struct Job {
    std::string_view from;
    bool from_has_slash;
    std::string_view to;
    bool to_has_slash;
    bool may_replace;  // what has the name `to`
    // Or else a copy, and a move that copies or removes a folder, is kGoOn if nothing that is seen
    // without it speaks against it.
    bool may_take_long = true;
  };

  struct GoOn {
    MayGoOn may_copy;
    MayGoOn may_remove;
    // Asked when a copy is complete, before it gets its name. If it returns false, nothing has
    // changed, and the change is kNotAllowed.
    MayGoOn may_name = [] { return true; };
    // The same before what a copy has moved loses its old name. Then the copy stays, and it too.
    MayGoOn may_leave = [] { return true; };
  };

  // `uploads` must outlive this.
  explicit Moves(Uploads& uploads) : uploads_(uploads) {}

  // kNotFound: there is nothing to move. kForbidden also for the served folder, for a link, and if
  // one name is the other or leads to it. kGoOn: nothing has changed, because it would take long.
  // kNotAllowed also if something has the name `to` and may not be replaced. To another file
  // system: a copy, then a removal; kForbidden if the copy would not have all of a folder
  // (FolderCopy), and kConflict if it was changed since: both are there then. `may_change` decides
  // about what has the name `from`.
  UploadStatus move(const Job& job, const MayChange& may_change, const GoOn& go_on);

  enum class Depth {
    kFolderOnly,  // a folder without what is in it
    kAll,
  };

  // The same. A link is not copied, but the file or folder that it leads to.
  UploadStatus copy(const Job& job, Depth depth, const MayChange& may_change, const GoOn& go_on);

 private:
  struct Ends;

  UploadStatus find_ends(const Job& job, Ends& ends) const;
  UploadStatus find_source_of_copy(Job& job, std::string& real_name) const;
  std::optional<UploadStatus> try_to_move(Ends& ends, const Job& job, const MayChange& may_change,
                                          Replaced& replaced);
  UploadStatus move_by_copy(const Job& job, Ends& ends, const GoOn& go_on);
  UploadStatus copy_file(const Job& job, Ends& ends, const GoOn& go_on);
  UploadStatus copy_folder(const Job& job, const Ends& ends, Depth depth, FolderSum* sum,
                           const GoOn& go_on);
  std::optional<UploadStatus> try_to_name(const Location& to, const Job& job, HiddenEntry& made,
                                          Replaced& replaced);

  Uploads& uploads_;
};

}  // namespace fileserver
