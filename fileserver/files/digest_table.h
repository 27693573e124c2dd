// The digests of files that were asked for lately, by their versions.
#pragma once

#include <array>
#include <optional>

#include "base/mutex.h"
#include "base/sha256.h"
#include "fileserver/files/file_version.h"

namespace fileserver {

// A table of a fixed size. A digest that is noted may take the place of another one. Requires of
// all versions: is_settled().
//
// Any thread.
class DigestTable {
 public:
  static constexpr std::size_t kSlots = 1024;

  std::optional<base::Sha256Digest> find(const FileVersion& version) const EXCLUDES(mutex_);
  void note(const FileVersion& version, const base::Sha256Digest& digest) EXCLUDES(mutex_);

 private:
  struct Slot {
    FileVersion version = {.size_bytes = -1};  // nothing is kept here
    base::Sha256Digest digest = {};
  };

  mutable base::Mutex mutex_;
  std::array<Slot, kSlots> slots_ GUARDED_BY(mutex_);  // by inode
};

}  // namespace fileserver
