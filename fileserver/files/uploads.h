// Changes the served folder for clients: PUT, DELETE, MKCOL. A file is replaced whole.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "fileserver/files/fence.h"
#include "fileserver/files/files.h"
#include "fileserver/files/folder_syncs.h"
#include "fileserver/files/locations.h"
#include "fileserver/files/temporary_file.h"
#include "fileserver/files/trash.h"
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

  // The modification time that the file is to have, in seconds since 1970.
  void ask_for_time(std::int64_t modified_s) { asked_s_ = modified_s; }

  // The file gets another name in the same folder.
  void call(std::string_view last) { last_ = last; }

 private:
  friend class Moves;
  friend class Uploads;

  // Whether what is removed from the trash makes room for it.
  bool makes_room() const;

  UploadStatus status_ = UploadStatus::kFailed;
  Fence::Folder folder_;
  std::string last_;          // part of the name
  Trash* trash_ = nullptr;    // what makes room on a full disk; null: there is none
  TrashPlace place_;          // of what it replaces
  bool is_in_place_ = false;  // the file, until it is exchanged for what it replaces
  TemporaryFile file_;        // in folder_ or place_, which must be open when it is removed
  NamedFile named_;           // of what the client sent
  std::optional<std::int64_t> asked_s_;
  bool has_asked_time_ = false;  // the file, once it has its name
  std::function<void()> on_named_;

  // In the turn of the name. What has the name is a folder, which a COPY replaces: it goes out of
  // sight, and comes back if the file does not get the name. Not set: it is in the way.
  struct GivesWay {
    std::function<UploadStatus()> hide;
    std::function<void()> put_back;
  };
  GivesWay gives_way_;
};

// Any thread.
//
// What the same server does to one name happens one after the other. A program that changes the
// folder at the same moment may win against a condition, but never against "must not exist".
class Uploads {
 public:
  // Removes what earlier servers have left. What is removed or replaced later goes to the trash;
  // null: there is none. Requires: the sandbox, if any, was entered.
  Uploads(std::shared_ptr<const Fence> fence, Files& files, Trash* trash = nullptr);

  // Makes room for a file. If `room_bytes` is not 0, there must be room for so many bytes on
  // the disk, or in the trash, and some of it is reserved (TemporaryFile::reserve()). Whatever is
  // wrong is found here, as far as it can be known before the bytes come. As they are written, the
  // oldest things in the trash make room for them.
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
    bool has_asked_time = false;  // the second that Upload::ask_for_time() has named
  };

  // Gives the complete file its name, and a modification time that no earlier version of the name
  // has, within the second that was asked for where the file system keeps nanoseconds. kCreated or
  // kReplaced: it is on disk, and Files::open() opens it, or a later one. Otherwise nothing has
  // changed, except after a failure to write the folder. kConflict also if the folder has lost its
  // name since begin(): no name leads to the bytes then. Where it was not allowed, or something
  // else has the name, it may be tried again. A file that it replaces leaves it its permissions
  // (keep_permissions()).
  Published publish(Upload& upload, const MayChange& may_change);

  // The same, once.
  Published publish(Upload&& upload, const MayChange& may_change) {
    Upload mine = std::move(upload);
    return publish(mine, may_change);
  }

  enum class Keep { kInTrash, kNot };

  // Removes a file, a link, or an empty folder. kReplaced when it is done, on disk. A link never
  // goes to the trash.
  UploadStatus remove(std::string_view name, const MayChange& may_change,
                      Keep keep = Keep::kInTrash);

  // Moves a thing out of the trash to the name that it had. kCreated when it is done, on disk.
  // kConflict if the name is taken, or if its folder is not there. kNotFound if it is not in the
  // trash any more. Requires: there is a trash.
  UploadStatus put_back(const Trashed& trashed);

  // kCreated once it is on disk.
  UploadStatus make_folder(std::string_view name);

 private:
  friend class FolderRemovals;
  friend class Moves;
  friend class Replaced;

  struct Kept {
    Keep keep;
    TrashPlace& place;
  };

  // Gives the complete file its name, if the conditions hold. kCreated, kReplaced, or why not.
  UploadStatus name_in_turn(Upload& upload, const std::string& name, const MayChange& may_change);
  UploadStatus try_to_name(Upload& upload, const std::string& name, const MayChange& may_change);
  UploadStatus remove_in_turn(const Location& location, const std::string& name,
                              const MayChange& may_change, const Kept& kept);
  UploadStatus put_back_in_turn(const Trashed& trashed, const Location& location, int trash);
  Upload find_place(std::string_view name, const MayChange& may_change);
  bool make_file(Upload& upload) const;
  bool has_room(Upload& upload, std::uint64_t room_bytes) const;
  bool replace(Upload& upload, const std::string& name);
  bool give_name(Upload& upload, const std::string& name, const FileVersion& replaced, bool is_new);

  // Returns `done` once the names in the folder are on disk.
  UploadStatus synced(int folder, UploadStatus done);

  // The same for what was taken into the trash out of the folder.
  UploadStatus synced(int folder, const TrashPlace& place, UploadStatus done);

  // A place in the trash, if there is one. See Trash::begin().
  TrashPlace place_for(const std::string& name, int replacing = -1);

  const std::shared_ptr<const Fence> fence_;
  Files& files_;
  Trash* const trash_;  // null: there is none
  const Locations locations_;
  TemporaryFile::Kind kind_;
  // Of names, from looking at the conditions to the change. What takes long is done before: the
  // bytes are on disk and in memory then.
  Turns turns_;
  UploadTimes times_{set_modification_time, coarse_time_ns};
  FolderSyncs folder_syncs_{sync_folder};
};

}  // namespace fileserver
