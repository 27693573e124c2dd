// What clients have deleted or replaced, until it is put back or removed for good (--trash DAYS).
#pragma once

#include <sys/stat.h>

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <string>
#include <string_view>
#include <thread>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "fileserver/files/fence.h"
#include "fileserver/files/trash_place.h"
#include "fileserver/files/trash_record.h"
#include "net/fd.h"

namespace fileserver {

// What lies in the trash.
struct Trashed {
  std::string id;
  std::string name;  // that it had, without links
  bool is_folder = false;
  std::uint64_t size_bytes = 0;  // of a file
  std::int64_t modified_s = 0;
  std::int64_t deleted_s = 0;
};

// Any thread. A thread of its own removes what is too old.
class Trash {
 public:
  // Makes the folder where it is missing. kInternal if nothing can be moved there. `keep_days` is
  // how long something stays. Requires: the sandbox, if any, was entered.
  static base::Result<std::unique_ptr<Trash>> open(std::shared_ptr<const Fence> fence,
                                                   int keep_days);
  ~Trash();

  // A place for what has the name now, or is about to be replaced by the file that `replacing`
  // reads. Its record is on disk. Not open on failure.
  TrashPlace begin(const std::string& name, int replacing = -1);

  // Whether a file can be exchanged for one in the trash.
  bool can_exchange() const { return can_exchange_; }

  // The newest first, at most kMostListed.
  static constexpr std::size_t kMostListed = 20'000;
  std::vector<std::string> newest_ids() const;

  // Whether something lies there that had this name, or was below it. True also if nobody knows.
  // Reads each record once, as far as their names fit into 16 MiB.
  bool has_of(std::string_view name) const EXCLUDES(names_mutex_);

  // Nothing if there is no such thing, or if it is not in the trash yet.
  std::optional<Trashed> find(std::string_view id) const;

  // The folder, to sync it, and to move something out of it. Not open on failure, with errno.
  net::Fd folder() const;

  // To be called once something has left the trash: drops its record.
  void forget(const std::string& id) const;

  // Takes it out of sight, on disk, and has it removed soon. Returns false, with errno, if it is
  // not there any more.
  bool remove_soon(const std::string& id);

  // Removes the oldest thing, to make room, and a few more if they are small. Returns false if
  // nothing is left.
  bool remove_oldest();

  // Whether room in the folder comes from what is removed here: both are on one file system, and
  // the folder has no quota of its own.
  bool makes_room_in(int folder) const;

  // At least so many bytes would be free on the file system of the folder, were the trash empty.
  std::uint64_t removable_bytes(int folder) const;

  // How long something is kept, in seconds.
  std::int64_t keep_s() const { return keep_s_; }

  // One round of the thread: what is too old, what was left behind, and what was ended.
  void tidy();

 private:
  using Names = std::unordered_map<std::string, std::string>;

  Trash(std::shared_ptr<const Fence> fence, std::int64_t keep_s)
      : fence_(std::move(fence)), keep_s_(keep_s) {}

  TrashPlace try_to_begin(const std::string& name, int replacing) const;
  base::Status probe();
  bool has_not_come(const struct stat& status, const std::optional<TrashRecord>& record) const;
  bool take_out_of_sight(int folder, const std::string& id) const;
  bool remove_now(int folder, const std::string& id) const;
  void tidy_one(int folder, const std::string& entry);
  void run() EXCLUDES(mutex_);
  bool may_go_on() const;

  const std::shared_ptr<const Fence> fence_;
  const std::int64_t keep_s_;
  bool can_exchange_ = false;  // never changes once it is open

  // The names in the records by ID, as many as fit into a bound. No record ever changes.
  mutable base::Mutex names_mutex_;
  mutable Names names_ GUARDED_BY(names_mutex_);

  std::atomic<bool> is_ending_ = false;
  base::Mutex mutex_;
  base::Condition has_work_;
  bool is_woken_ GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace fileserver
