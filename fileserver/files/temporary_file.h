// A file that is being written, and that gets its name when it is complete.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <span>
#include <string>

#include "fileserver/files/renames.h"
#include "net/fd.h"

namespace fileserver {

// The file has no name while it is written (O_TMPFILE), so nothing of it is left if the process is
// killed. Where the system refuses that, it has a name with kUploadPrefix. It is locked (flock), so
// that no other server takes it for one that was left behind.
//
// Functions that return false have set errno. Threads: one.
class TemporaryFile {
 public:
  enum class Kind { kUnnamed, kNamed };

  TemporaryFile() = default;
  TemporaryFile(TemporaryFile&& other) noexcept { swap(other); }
  TemporaryFile& operator=(TemporaryFile&& other) noexcept {
    swap(other);
    return *this;
  }
  // Removes the file, or what it has replaced if that is still there.
  ~TemporaryFile();

  // Makes a file in the folder, which must outlive this. kNamed is also used where the folder's
  // file system cannot do kUnnamed. Not open on failure, with errno.
  static TemporaryFile in(int folder, Kind kind);

  // The same for a file that is complete, and has a name on the same file system: it gets a hidden
  // one in the folder. Not open on failure, with errno: the file system may have no links.
  static TemporaryFile linked_in(int folder, net::Fd fd);

  bool is_open() const { return fd_.is_open(); }
  int fd() const { return fd_.get(); }

  // Fails with ENOSPC if the file system has no room for so many bytes now, also if
  // `removable_bytes` were free. Reserves nothing itself. write() then reserves as many bytes ahead
  // as have been written, from 1 MiB to 64 MiB. So a length that a client only announces takes no
  // room from others.
  bool reserve(std::uint64_t size_bytes, std::uint64_t removable_bytes = 0);

  // If it fails, none of the bytes count: they may be written again.
  bool write(std::span<const char> bytes);

  // Returns once the bytes are on disk.
  bool sync();

  // Gives the file this hidden name, which may be in another folder that outlives this. What
  // replace() replaces then gets the same name.
  bool hide_as(const NameIn& hidden);

  // Gives the file this name in its folder. replace() replaces a file or a link of this name;
  // create() fails with EEXIST if the name is taken, and so may replace() if somebody has just
  // removed the file and made it again.
  bool replace(const std::string& name);
  bool create(const std::string& name);

  // After replace() or create(). What was replaced has a hidden name until drop_replaced() removes
  // it; take_back() gives it the name again. Where the file system cannot exchange two names, it is
  // removed by replace() already, and take_back() only removes this file.
  void drop_replaced();

  // After replace(): leaves what was replaced its hidden name for good, if it is a file. Returns
  // false otherwise.
  bool keep_replaced();
  void take_back(const std::string& name);

 private:
  void swap(TemporaryFile& other) noexcept;
  bool link(const NameIn& name);
  bool link_hidden();
  bool rename(const std::string& name, unsigned flags);
  bool swap_names(const std::string& name);
  bool reserve_up_to(off_t end);

  int folder_ = -1;
  int hidden_folder_ = -1;  // that name_ is in
  net::Fd fd_;
  std::string name_;         // of this file, or of the one it has replaced; empty: neither has one
  off_t written_bytes_ = 0;  // by write()
  off_t announced_bytes_ = 0;  // 0: nothing is reserved
  off_t reserved_bytes_ = 0;
};

// Whether files without a name can be made in the folder, and be given one.
bool can_be_unnamed(int folder);

// Removes the files and folders with hidden names that earlier servers have left in a folder and
// below it. Those of servers that run are left alone.
void remove_left_uploads(const std::string& root);

}  // namespace fileserver
