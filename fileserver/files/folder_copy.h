// Copies all that is below a folder.
#pragma once

#include <sys/types.h>

#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "base/sha256.h"
#include "fileserver/files/fence.h"
#include "fileserver/files/file_version.h"
#include "fileserver/files/folder_trail.h"
#include "fileserver/files/locations.h"
#include "fileserver/files/upload_status.h"
#include "fileserver/files/upload_times.h"

namespace fileserver {

// The mode of a copy of a folder, less what umask takes. The server can fill it.
mode_t mode_of_copy(int folder, const std::string& last);

// Tells whether what is below a folder has changed: the names, and the versions of the files.
class FolderSum {
 public:
  void add_file(std::string_view name, const FileVersion& version);
  void add_folder(std::string_view name);
  bool operator==(const FolderSum&) const = default;

 private:
  void add(const std::string& entry);

  base::Sha256Digest sum_{};  // of the digests of all entries, in any order
};

// Of what is below the open folder now. Nothing on failure, if `may_go_on` has ended it, or if
// there is something that FolderCopy leaves out, other than uploads under way.
std::optional<FolderSum> sum_below(int folder, const MayGoOn& may_go_on);

// Copies what a client could get: files, folders, and the files that links lead to. Everything else
// is left out: links to folders and out of the served folder, FIFOs, sockets, devices, what the
// server may not read, and uploads under way. Each copy has the permissions of its original, as far
// as keep_permissions() gives them, and a time of its own.
//
// A name of over 4,095 bytes, which no client can ask for, is left out too. Each folder is opened
// once, and a few descriptors are enough, however deep it is. The names of the folders below are
// kept in memory while it copies. Threads: one.
class FolderCopy {
 public:
  // All must outlive the copy. `to_name` is the name that the copy gets later.
  FolderCopy(const Fence& fence, const Locations& locations, UploadTimes& times,
             std::string to_name, const MayGoOn& may_go_on)
      : fence_(fence),
        locations_(locations),
        times_(times),
        to_name_(std::move(to_name)),
        may_go_on_(may_go_on) {}

  // Copies into the empty folder `to`, which nobody else changes. `from` is a name without links.
  // Returns once all is on disk: 0, or an errno. ECANCELED if `may_go_on` has ended it.
  int copy(const std::string& from, int to);

  // Whether something was left out, other than uploads under way.
  bool has_left_out() const { return has_left_out_; }

  // Of what was copied, as it was then.
  const FolderSum& sum() const { return sum_; }

 private:
  struct Both {
    int from;  // the folder that is copied; to_ is at its copy
    std::string from_name;
    std::string to_name;
  };

  int copy_folder(const std::string& folder, const std::string& from);
  int copy_entry(const Both& both, const std::string& last, unsigned char type,
                 const std::string& folder);
  int copy_file(const Both& both, const std::string& last, bool is_link, const std::string& folder);
  int left_out();

  const Fence& fence_;
  const Locations& locations_;
  UploadTimes& times_;
  const std::string to_name_;
  const MayGoOn& may_go_on_;
  FolderTrail to_;                    // to the copy of the folder that is copied
  std::vector<std::string> folders_;  // that are copied next, below `from`; "" is that itself
  FolderSum sum_;
  bool has_left_out_ = false;
};

// Copies all bytes of `from` to the empty file `to`, without reading them where the file system can
// share or copy them by itself. A file that somebody changes meanwhile is copied again a few times.
// Returns 0 or an errno: EBUSY if it goes on changing, ECANCELED if `may_go_on` has ended it.
// `copied` becomes the version that was copied; null: nobody wants to know.
int copy_one_version(int from, int to, const MayGoOn& may_go_on, FileVersion* copied = nullptr);

}  // namespace fileserver
