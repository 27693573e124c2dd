// Opens files under the served folder, and nothing else.
//
// Immutable once built; any thread. The kernel resolves names beneath the folder (openat2,
// RESOLVE_BENEATH): a link that is absolute or leaves the folder on its way is not followed,
// whoever swaps folders for links meanwhile. What is not a regular file is looked at, but never
// opened. Where there is no openat2 (a kernel before 5.6, a container that forbids it,
// valgrind 3.19), names are walked part by part, and no link is followed at all.
#pragma once

#include <sys/stat.h>

#include <string>
#include <string_view>

#include "base/result.h"
#include "fileserver/files/file_version.h"
#include "net/fd.h"

namespace fileserver {

class Fence {
 public:
  struct OpenFile {
    net::Fd fd;
    FileVersion version;
    bool is_direct;  // whether it was opened with O_DIRECT
  };

  enum class Links { kFollowed, kRefused };

  // kDirect reads past the page cache (O_DIRECT). Where the file system refuses that, the file is
  // opened kBuffered instead.
  enum class Io { kBuffered, kDirect };

  // kInternal when the folder cannot be opened. Logs when links will not be followed.
  static base::Result<Fence> around(const std::string& root);

  // A path that leads to the served folder, whatever becomes of its name, as long as the fence
  // lives.
  std::string root_path() const;

  // A regular file, for reading. kNotFound for everything that a
  // client can get wrong, kInternal when our side is short of something: nothing is known of the
  // file then.
  base::Result<OpenFile> open_file(std::string_view name, Links links, Io io = Io::kBuffered) const;

  // A regular file, without opening it. Errors as above.
  base::Result<struct stat> look_at(std::string_view name, Links links) const;

  // The name without links of a file that is reached through links; kNotFound when there are none
  // on the way.
  base::Result<std::string> name_behind_links(std::string_view name) const;

 private:
  Fence(net::Fd root, std::string real_root, bool has_openat2)
      : root_(std::move(root)), real_root_(std::move(real_root)), has_openat2_(has_openat2) {}

  struct Located {
    net::Fd path;  // O_PATH
    struct stat status;
  };
  long open_path(const std::string& name, Links links) const;
  base::Result<Located> locate(std::string_view name, Links links) const;

  net::Fd root_;
  std::string real_root_;  // without links
  bool has_openat2_;
};

}  // namespace fileserver
