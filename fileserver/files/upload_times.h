// Modification times that tell the versions of a name apart.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <functional>
#include <optional>
#include <string_view>

#include "base/mutex.h"
#include "fileserver/files/file_version.h"

namespace fileserver {

// A file system notes the same modification time for all that is written within a tick of its
// clock, which may be 4 ms, or 2 s. So each upload is given a time that no earlier version of its
// name has, and that nobody gets who writes to it from now on: just before now, or a little later
// than that if the time is taken already. Uploads of other names most likely have other times, so
// that a file can be given one of those names and keep its time.
//
// Any thread.
class UploadTimes {
 public:
  // Gives the file a modification time, in nanoseconds since 1970, and returns what the file system
  // has kept of it. Nothing if it cannot.
  using SetTime = std::function<std::optional<std::int64_t>(int fd, std::int64_t time_ns)>;

  // The clock of the file systems, which advances in ticks.
  using Clock = std::function<std::int64_t()>;

  UploadTimes(SetTime set_time, Clock now_ns)
      : set_time_(std::move(set_time)), now_ns_(std::move(now_ns)) {}

  // Gives the file its time: later than `replaced_ns` and than any time that was given to this name
  // before, and another one than a write gets now. Returns false, and leaves some time, where the
  // file system does not do that.
  // Requires: nobody else gives a time to this name meanwhile.
  bool give(int fd, std::string_view name, std::int64_t replaced_ns);

  // Gives the file a time within this second since 1970, which is that of no version that this
  // server has given a time in the last days, and not `replaced_ns`. Returns false, and leaves some
  // time, where the file system does not keep the nanoseconds that tell the versions apart.
  bool give_within(std::int64_t second, int fd, std::int64_t replaced_ns);

  // Of a file that gets this name from another one: leaves it its time `own_ns`, unless a version
  // of the name may have had it; then the same as give().
  void keep_or_give(int fd, std::string_view name, std::int64_t own_ns, std::int64_t replaced_ns);

 private:
  // Returns the time that the file system has kept. Nothing if that is what it keeps of now.
  std::optional<std::int64_t> set_unlike_now(int fd, std::int64_t time_ns,
                                             std::int64_t now_ns) const;

  std::int64_t next_part_ns();

  std::atomic<std::int64_t>& last_of(std::string_view name) {
    return last_ns_[std::hash<std::string_view>()(name) % last_ns_.size()];
  }

  // The last time that was given to any of the names that share a slot by their hash. It counts for
  // a name that was removed since.
  std::array<std::atomic<std::int64_t>, 4096> last_ns_ = {};

  std::atomic<std::uint32_t> uploads_ = 0;
  std::atomic<std::int64_t> last_part_ = 0;  // of those within a second that a client has named

  const SetTime set_time_;
  const Clock now_ns_;
};

std::optional<std::int64_t> set_modification_time(int fd, std::int64_t time_ns);
std::int64_t coarse_time_ns();

// A file that has just got its name.
struct NamedFile {
  FileVersion version;  // from before anybody else could open it

  // Whether its modification time is its own (UploadTimes::give()): whoever changes it from now on
  // gives it another one, and would have to set it back in the same tick of the clock.
  bool has_own_time = true;

  // The version now. Nothing if somebody has changed the file since, or may have changed it.
  std::optional<FileVersion> version_now(int fd) const;
};

// The files that this server has put into the folder, as they were when they got their names. Such
// a version may be read before it is settled, because a later change gives the file another time.
//
// Any thread.
class UploadedVersions {
 public:
  // Forgets an earlier version whose inode has the same slot.
  void note(const FileVersion& version) EXCLUDES(mutex_);

  bool has(const FileVersion& version) const EXCLUDES(mutex_);

 private:
  static constexpr std::size_t kSlots = 1024;

  mutable base::Mutex mutex_;
  std::array<FileVersion, kSlots> versions_ GUARDED_BY(mutex_) = {};  // by inode
};

}  // namespace fileserver
