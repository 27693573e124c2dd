// Tells the versions of a file apart, by the status that the kernel keeps of it.
#pragma once

#include <sys/stat.h>

#include <cstdint>

namespace fileserver {

struct FileVersion {
  dev_t device = 0;
  ino_t inode = 0;
  nlink_t links = 0;
  std::int64_t size_bytes = 0;
  std::int64_t modified_ns = 0;  // the owner may set it to any time
  std::int64_t changed_ns = 0;   // set by the kernel alone, also when the file gets or loses a name
};

FileVersion version_in(const struct stat& status);

// The version of an open file now. If fstat fails: a version equal to no other.
FileVersion version_of(int fd);

// Whether the file was certainly not written to between the two versions. False also for a file
// that was only renamed, linked, removed or given other permissions, because the kernel notes all
// of these as it notes a write whose modification time was put back.
bool have_same_content(const FileVersion& a, const FileVersion& b);

// Whether the file lost its last name, and nothing else is seen to have changed: it was removed, or
// replaced by another file.
bool was_only_removed(const FileVersion& before, FileVersion after);

// The kernel's file times advance in ticks. A file that changed less than this long ago may change
// again and keep the same times.
inline constexpr int kSettlingMs = 20;

// Whether the last change is older than kSettlingMs. Only then does the next change give a version
// that differs from this one.
bool is_settled(const FileVersion& version);

}  // namespace fileserver
