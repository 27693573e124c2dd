// Changes the served folder for clients: PUT, DELETE, MKCOL. A file is replaced whole.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "fileserver/files/fence.h"
#include "fileserver/files/files.h"
#include "fileserver/files/folder_syncs.h"
#include "fileserver/files/locations.h"
#include "fileserver/files/temporary_file.h"
#include "fileserver/files/turns.h"
#include "fileserver/files/upload_status.h"
#include "fileserver/files/upload_times.h"

namespace fileserver {

// A file that a client is sending. Nothing of it is seen, and nothing is left if this is destroyed
// before Uploads::publish(). Threads: one.
class Upload {
 public:
  // kGoOn, or why it must end.
  UploadStatus status() const { return status_; }

  // Returns status().
  UploadStatus write(std::span<const char> bytes);

 private:
  friend class Moves;
  friend class Uploads;

  UploadStatus status_ = UploadStatus::kFailed;
  Fence::Folder folder_;
  std::string last_;    // part of the name
  TemporaryFile file_;  // in folder_, which must be open when it is removed
  NamedFile named_;     // of what the client sent
  std::function<void()> on_named_;
};

// Any thread.
//
// What the same server does to one name happens one after the other. A program that changes the
// folder at the same moment may win against a condition, but never against "must not exist".
class Uploads {
 public:
  // Removes what earlier servers have left. Requires: the sandbox, if any, was entered.
  Uploads(std::shared_ptr<const Fence> fence, Files& files);

  // Makes room for a file. If `room_bytes` is not 0, there must be room for so many bytes on
  // the disk, and some of it is reserved (TemporaryFile::reserve()). Whatever is wrong is found
  // here, as far as it can be known before the bytes come.
  Upload begin(std::string_view name, std::uint64_t room_bytes, const MayChange& may_change);

  // The same for a file whose bytes have all come, in `fd`. publish() then gives that file the
  // name, or a copy where it cannot have one in this folder. Then it calls on_named(), which takes
  // an earlier name away, once the new one is on disk.
  Upload begin_with(std::string_view name, int fd, const MayChange& may_change,
                    std::function<void()> on_named);

  // The version is that of the client's bytes, from before they got their name: changed_ns is
  // later by now, and somebody may have changed the rest.
  struct Published {
    UploadStatus status;
    FileVersion version = {};
  };

  // Gives the complete file its name, and a modification time that no earlier version of the name
  // has. kCreated or kReplaced: it is on disk, and Files::open() opens it, or a later one.
  // Otherwise nothing has changed, except after a failure to write the folder. kConflict also if
  // the folder has lost its name since begin(): no name leads to the bytes then. A file that it
  // replaces leaves it its permissions (keep_permissions()).
  Published publish(Upload upload, const MayChange& may_change);

  // Removes a file, a link, or an empty folder. kReplaced when it is done, on disk.
  UploadStatus remove(std::string_view name, const MayChange& may_change);

  // kCreated once it is on disk.
  UploadStatus make_folder(std::string_view name);

 private:
  friend class Moves;

  // Gives the complete file its name, if the conditions hold. kCreated, kReplaced, or why not.
  UploadStatus name_in_turn(Upload& upload, const std::string& name, const MayChange& may_change);
  UploadStatus remove_in_turn(const Location& location, const std::string& name,
                              const MayChange& may_change);
  Upload find_place(std::string_view name, const MayChange& may_change);
  bool give_name(Upload& upload, const std::string& name, const FileVersion& replaced, bool is_new);

  // Returns `done` once the names in the folder are on disk.
  UploadStatus synced(int folder, UploadStatus done);

  const std::shared_ptr<const Fence> fence_;
  Files& files_;
  const Locations locations_;
  TemporaryFile::Kind kind_;
  // Of names, from looking at the conditions to the change. What takes long is done before: the
  // bytes are on disk and in memory then.
  Turns turns_;
  UploadTimes times_{set_modification_time, coarse_time_ns};
  FolderSyncs folder_syncs_{sync_folder};
};

}  // namespace fileserver
