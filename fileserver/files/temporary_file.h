// A file that is being written, and that gets its name when it is complete.
#pragma once

#include <cstdint>
#include <span>
#include <string>

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
  // Removes the file, unless replace() or create() has given it its name.
  ~TemporaryFile();

  // Makes a file in the folder, which must outlive this. kNamed is also used where the folder's
  // file system cannot do kUnnamed. Not open on failure, with errno.
  static TemporaryFile in(int folder, Kind kind);

  bool is_open() const { return fd_.is_open(); }
  int fd() const { return fd_.get(); }

  // Makes room for so many bytes, if the file system can.
  bool reserve(std::uint64_t size_bytes);

  bool write(std::span<const char> bytes);

  // Returns once the bytes are on disk.
  bool sync();

  // Gives the file this name in its folder. replace() replaces a file or a link of this name;
  // create() fails with EEXIST if the name is taken.
  bool replace(const std::string& name);
  bool create(const std::string& name);

 private:
  void swap(TemporaryFile& other) noexcept;
  bool link(const std::string& name);
  bool link_hidden();
  bool rename(const std::string& name, unsigned flags);

  int folder_ = -1;
  net::Fd fd_;
  std::string name_;  // empty: it has none, or has its own
};

// Whether files without a name can be made in the folder, and be given one.
bool can_be_unnamed(int folder);

// Removes the files that earlier servers have left in a folder and below it. Those of servers that
// run are left alone.
void remove_left_uploads(const std::string& root);

}  // namespace fileserver
