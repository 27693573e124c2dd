// Where a name is that is to be changed, and what has it now.
#pragma once

#include <memory>
#include <string>
#include <string_view>

#include "fileserver/files/fence.h"
#include "fileserver/files/upload_status.h"

namespace fileserver {

// What has a name now.
struct Current {
  enum class Kind { kNothing, kFile, kLink, kFolder, kOther };
  Kind kind = Kind::kNothing;
  FileVersion version = {};  // of a file
  int failure = 0;           // an errno: nothing is known

  bool is_there() const { return kind != Kind::kNothing; }
  bool is_folder() const { return kind == Kind::kFolder; }
  bool may_change(const MayChange& decide) const;
};

// Does not follow a link.
Current look_at(int folder, const std::string& last);

// A folder, and the last part of a name in it.
struct Location {
  UploadStatus status = UploadStatus::kFailed;  // kGoOn, or why there is no such location
  Fence::Folder folder = {};
  std::string last = {};

  // The name without links.
  std::string name() const { return folder.name.empty() ? last : folder.name + "/" + last; }
  int fd() const { return folder.fd.get(); }
  Current current() const { return look_at(fd(), last); }
};

// Any thread.
class Locations {
 public:
  explicit Locations(std::shared_ptr<const Fence> fence) : fence_(std::move(fence)) {}

  // Links on the way are followed. The folder is opened so that it can be synced. kConflict when
  // there is no such folder, or a part of the name is one of an upload.
  Location find(std::string_view name) const;

  // 0 if the folder still has the name under which it was found. Otherwise an errno: ENOENT if
  // somebody has renamed it since, or moved it out of the served folder.
  int why_not_in_place(const Fence::Folder& folder) const;

  // The errno of a change in the folder. The sandbox does not let the server change a folder that
  // was moved out of the served one. That folder is gone, and no right is missing.
  int errno_in(const Fence::Folder& folder, int errno_value) const;

 private:
  const std::shared_ptr<const Fence> fence_;
};

}  // namespace fileserver
