// Which version of a file it is.
#pragma once

#include <sys/stat.h>

#include <cstdint>

namespace fileserver {

struct FileVersion {
  dev_t device = 0;
  ino_t inode = 0;
  nlink_t links = 0;
  std::int64_t size_bytes = 0;
  std::int64_t modified_ns = 0;  // writers may set it back
  std::int64_t changed_ns = 0;   // nobody can set it; also moves when the file gets or loses a name
};

FileVersion version_in(const struct stat& status);

// Of an open file, now. One that has the content of no other when the file cannot be asked.
FileVersion version_of(int fd);

// Whether nobody has written to the file between the two looks at it. A file that was only renamed,
// linked or removed meanwhile has kept its content.
bool have_same_content(const FileVersion& a, const FileVersion& b);

// The kernel's file times move in ticks: a file that was changed within this time may be changed
// again without getting another time. Only a version that is older than this can be told from what
// comes after it.
inline constexpr int kSettlingMs = 20;
bool is_settled(const FileVersion& version);

}  // namespace fileserver
