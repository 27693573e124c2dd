// Opens files below the served folder, and nothing else.
//
// The kernel resolves each name beneath the folder (openat2 with RESOLVE_BENEATH). A link that is
// absolute, or that leaves the folder on its way, is not followed. This holds even while somebody
// replaces folders by links. Only regular files are opened; of anything else only the status is
// read.
//
// Where openat2 is missing (a kernel before 5.6, a container that forbids it, valgrind 3.19), names
// are opened part by part, and no link is followed.
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>

#include "base/result.h"
#include "fileserver/files/file_version.h"
#include "net/fd.h"

namespace fileserver {

// Whether the errno means that this machine failed: it is out of descriptors or memory, or a disk
// failed. Nothing is known about the file then, and the same call may succeed a moment later. Any
// other errno means that there is no such file.
bool is_system_failure(int errno_value);

// Any thread.
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

  // kInternal when the folder cannot be opened, or when this user may not enter and list it. Logs a
  // warning when there is no openat2.
  //
  // A folder that is removed and made again under the same name is opened again. One that is only
  // renamed stays the served folder.
  static base::Result<Fence> around(const std::string& root);

  // How often the folder was opened again. It tells two folders apart that have had the same inode.
  int times_opened_again() const { return *times_opened_again_; }

  // A path that leads to the served folder even after the folder was renamed. Valid as long as the
  // fence lives.
  std::string root_path() const;

  // A path that leads to the folder that holds the served folder now. Nothing if that is the root
  // of the file system, or there is none. Valid as long as the fence lives.
  std::optional<std::string> folder_above() const;

  // Opens a regular file for reading. kNotFound when there is no such file, or the name is not
  // acceptable, or has a NUL or a line break in it. kInternal for an is_system_failure().
  base::Result<OpenFile> open_file(std::string_view name, Links links, Io io = Io::kBuffered) const;

  // A folder, opened with O_PATH. Its name has no links, and is "" for the served folder itself.
  struct Folder {
    net::Fd fd;
    std::string name;
    dev_t device;
    ino_t inode;
  };

  // Links are followed. Errors as for open_file().
  base::Result<Folder> find_folder(std::string_view name) const;

  // Whether the name leads to the folder of the trash, or of uploads in parts, by another spelling:
  // a short name of FAT or NTFS, or letters that a file system takes for one and the same.
  bool leads_to_ours(std::string_view name) const;

  // Whether the folder still has the name under which it was found. kInternal as for open_file().
  base::Result<bool> has_its_name(const Folder& folder) const;

  // The status of a regular file, without opening it. Errors as for open_file().
  base::Result<struct stat> status_of(std::string_view name, Links links) const;

  // The status of a regular file or a folder that may be read. Links are followed. Errors as for
  // open_file().
  base::Result<struct stat> status_of_readable(std::string_view name) const;

  // Opens a folder, to list it. The empty name is the served folder. Links are followed. kNotFound
  // when there is no such folder, or it may not be listed. kInternal as for open_file().
  base::Result<net::Fd> open_folder(std::string_view name) const;

  // The name without links of a regular file. It is `name` itself when no link is on the way.
  // Errors as for open_file().
  base::Result<std::string> real_name(std::string_view name) const;

 private:
  Fence(std::string name, net::Fd root, bool has_openat2)
      : name_(std::move(name)), root_(std::move(root)), has_openat2_(has_openat2) {}

  struct Located {
    net::Fd path;  // opened with O_PATH
    struct stat status;
  };
  long open_path(const std::string& name, Links links) const;
  base::Result<Located> locate_any(std::string_view name, Links links) const;
  base::Result<Located> locate_folder(std::string_view name, Links links) const;
  base::Result<Located> locate(std::string_view name, Links links) const;  // a regular file
  std::string name_of(int path_fd, std::string_view asked) const;

  bool open_removed_root_again() const;
  void warn_if_closed() const;

  std::string name_;
  net::Fd root_;  // its number never changes
  std::unique_ptr<std::atomic<int>> times_opened_again_ = std::make_unique<std::atomic<int>>(0);
  bool has_openat2_;
};

// Of names of files and folders below the served one: "a" and "b" make "a/b". If one of both is
// empty, the other is the name.
inline std::string joined(std::string_view folder, std::string_view name) {
  std::string path(folder);
  if (!folder.empty() && !name.empty()) path += '/';
  return path.append(name);
}

// When a file or a folder was made, in seconds since 1970. The empty name is the served folder;
// links are followed. Nothing if there is no such file or folder, or the file system does not keep
// that time.
std::optional<std::int64_t> created_s(const Fence& fence, std::string_view name);

}  // namespace fileserver
