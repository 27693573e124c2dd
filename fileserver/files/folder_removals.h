// Removes folders of the served folder: DELETE, and the rest of a MOVE to another file system.
#pragma once

#include <string_view>

#include "fileserver/files/locations.h"
#include "fileserver/files/upload_status.h"
#include "fileserver/files/uploads.h"

namespace fileserver {

class FolderSum;
class Replaced;

// Any thread. A folder goes out of sight in one step, to the trash if there is one. A removal that
// ends early, because `may_remove` says so, leaves a hidden folder, which the next start removes.
class FolderRemovals {
 public:
  // `uploads` must outlive this.
  explicit FolderRemovals(Uploads& uploads) : uploads_(uploads) {}

  // Removes a folder with all that is in it. kReplaced when it is out of sight, on disk, and
  // removed or in the trash. kForbidden for the served folder.
  UploadStatus remove(std::string_view name, const MayChange& may_change, const MayGoOn& may_remove,
                      Uploads::Keep keep = Uploads::Keep::kInTrash);

  // What remove() would be refused with now. Nothing speaks against it: kGoOn.
  UploadStatus why_not(std::string_view name, const MayChange& may_change) const;

  // Removes a folder that was copied, if it still is what the copy has read. Otherwise it keeps its
  // name: kConflict.
  UploadStatus remove_copied(std::string_view name, const MayChange& may_change,
                             const MayGoOn& may_remove, const FolderSum& sum);

 private:
  UploadStatus find(std::string_view name, Location& location) const;
  UploadStatus hide(const Location& location, const MayChange& may_change, Replaced& folder);
  void put_back(const Location& location, Replaced& folder);

  Uploads& uploads_;
};

}  // namespace fileserver
