// What has a hidden name in the served folder until it is removed: a folder that is being deleted
// or replaced, and a folder in the making.
#pragma once

#include <sys/types.h>

#include <string>

#include "fileserver/files/upload_status.h"
#include "net/fd.h"

namespace fileserver {

// A folder is locked (flock), so that no other server takes it for one that was left behind.
//
// Functions that return false have set errno. Threads: one.
class HiddenEntry {
 public:
  HiddenEntry() = default;
  HiddenEntry(HiddenEntry&& other) noexcept { swap(other); }
  HiddenEntry& operator=(HiddenEntry&& other) noexcept {
    swap(other);
    return *this;
  }
  // Removes it with all below it, which may take long. What cannot be removed stays under the
  // hidden name, with a line in the log.
  ~HiddenEntry();

  // Takes what has the name in the folder out of sight, by one rename. A link that must not have
  // another name, because of the sandbox, is removed at once. Nothing is hidden on failure, with
  // errno. The removal at the end asks `may_go_on`.
  static HiddenEntry hide(int folder, const std::string& last, MayGoOn may_go_on);

  // Makes a folder of this mode, less what umask takes. Nothing is hidden on failure, with errno.
  static HiddenEntry make_folder(int folder, mode_t mode, MayGoOn may_go_on);

  bool is_there() const { return folder_.is_open(); }

  // Of a folder, opened for reading.
  int fd() const { return fd_.get(); }

  // Gives it a name that nothing has, and it stays. EEXIST if the name is taken.
  bool give_name(const std::string& last);

  // It stays, hidden, also when a server starts, with a line in the log: `last` was its name, which
  // it cannot have again.
  void keep(const std::string& last);

  // Hides what give_name() has named, so that it is removed after all.
  bool take_back(const std::string& last);

 private:
  void swap(HiddenEntry& other) noexcept;

  net::Fd folder_;    // that it is in; not open: there is nothing
  net::Fd fd_;        // of a folder
  std::string name_;  // empty: it was removed
  bool has_name_ = false;
  MayGoOn may_go_on_;
};

}  // namespace fileserver
