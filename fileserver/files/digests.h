// The SHA-256 of whole files, computed once for each version.
#pragma once

#include <array>
#include <functional>
#include <optional>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "base/sha256.h"
#include "fileserver/files/file_version.h"
#include "fileserver/files/opened_file.h"

namespace fileserver {

// The digests of files that were asked for lately, by their versions.
//
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

// A digest is computed by the thread that asks for it first. Others that ask for the same version
// meanwhile wait for it. It is then kept with the file in memory, and in a DigestTable, which is
// all that files on disk have.
//
// Only a few digests are computed at once, so that they do not take all processors from those who
// want files. Who asks for a further one waits for a while.
//
// Any thread.
class Digests {
 public:
  struct Limits {
    std::size_t at_once = 4;
    int wait_ms = 10'000;  // the longest wait for others
  };
  Digests() : Digests(Limits()) {}
  explicit Digests(Limits limits) : limits_(limits) {}

  // Of all bytes of this version, and of no other one. Takes as long as reading the file if nobody
  // has asked before. Calls may_go_on() every few milliseconds meanwhile. Errors:
  // - kUnavailable: the file changes, or has changed since it was opened; may_go_on() returned
  //   false; or too many others are computed. Nothing is kept.
  // - kInternal: it cannot be read.
  base::Result<base::Sha256Digest> of(const OpenedFile& file,
                                      const std::function<bool()>& may_go_on) EXCLUDES(mutex_);

 private:
  class Turn;

  std::optional<base::Sha256Digest> known(const OpenedFile& file) const;
  enum class Wait { kTaken, kEnded, kTooLong };
  Wait take_turn(const FileVersion& version, const std::function<bool()>& may_go_on)
      EXCLUDES(mutex_);
  void end_turn(const FileVersion& version) EXCLUDES(mutex_);
  bool is_free(const FileVersion& version) const REQUIRES(mutex_);
  bool is_under_way(const FileVersion& version) const REQUIRES(mutex_);

  const Limits limits_;
  DigestTable table_;

  base::Mutex mutex_;
  base::Condition one_ended_;
  std::vector<FileVersion> under_way_ GUARDED_BY(mutex_);
};

}  // namespace fileserver
