// Tells the versions of a file apart, by the status that the kernel keeps of it.
#pragma once

#include <sys/stat.h>

#include <cstdint>

namespace fileserver {

// The kernel's file times advance in ticks, of at most 10 ms. A file that changed less than this
// long ago may change again and keep the same times.
inline constexpr int kSettlingMs = 20;

struct FileVersion {
  dev_t device = 0;
  ino_t inode = 0;
  nlink_t links = 0;
  std::int64_t size_bytes = 0;
  std::int64_t modified_ns = 0;  // the owner may set it to any time
  std::int64_t changed_ns = 0;   // set by the kernel alone, also when the file gets or loses a name

  // How long the file must be unchanged until a further change gives it other times. Longer than
  // kSettlingMs where the file system keeps whole seconds.
  int settling_ms = kSettlingMs;
};

// The granularity of the times is seen from the times alone: those of ext3, of ext4 with inodes of
// 128 bytes, and of HFS+ are whole seconds, and those of FAT are even ones.
FileVersion version_in(const struct stat& status);

// The status of an open file now. Asks the other host for it if the file is on one, because what is
// known of it may be seconds old. Returns false with errno on failure.
bool read_status(int fd, struct stat& status);

// The version of an open file now. On failure: a version equal to no other.
FileVersion version_of(int fd);

// Whether the file was certainly not written to between the two versions. False also for a file
// that was only renamed, linked, removed or given other permissions, because the kernel notes all
// of these as it notes a write whose modification time was put back.
bool have_same_content(const FileVersion& a, const FileVersion& b);

// Whether the file lost its last name, and nothing else is seen to have changed: it was removed, or
// replaced by another file.
bool was_only_removed(const FileVersion& before, FileVersion after);

// Whether the last change is older than settling_ms. Only then does the next change give a version
// that differs from this one.
bool is_settled(const FileVersion& version);

// How long it takes until it is settled, if the file does not change again. 0 if it is.
int unsettled_ms(const FileVersion& version);

// The version of a file that is read next. A change from now on gives it another version, once this
// one is settled:
// - A program may have mapped the file into its memory, and the kernel notes only the first store
//   into a page that is clean. So this begins to write the dirty pages to the disk. It has no
//   effect on file systems in memory (tmpfs, ramfs).
// - A file that is just being emptied has its new size before its new times. This waits until it
//   has both.
FileVersion version_to_read(int fd);

}  // namespace fileserver
