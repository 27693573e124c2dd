// Uploads that come in parts, maybe over several connections. What has come is on disk, so an
// upload goes on after a break of its connection, and after a restart or a crash of the server.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <string>
#include <string_view>
#include <thread>

#include "base/mutex.h"
#include "fileserver/files/fence.h"
#include "fileserver/files/partial_upload.h"
#include "fileserver/files/trash.h"
#include "fileserver/files/turns.h"
#include "net/fd.h"

namespace fileserver {

// Their files are in a hidden folder in the served one, two for each: the bytes, and the state.
// Nothing in it is ever served, listed or watched.
//
// Any thread.
class PartialUploads {
 public:
  struct Limits {
    std::int64_t keep_s = 86'400;
    std::size_t of_user = 64;  // unfinished ones
    std::size_t of_all = 4096;
  };

  // Finds those of an earlier server, and starts the thread that removes old ones. The trash makes
  // room for what comes; null: there is none. Requires: the sandbox, if any, was entered. Throws
  // std::exception if there can be no thread.
  PartialUploads(std::shared_ptr<const Fence> fence, const Limits& limits, Trash* trash = nullptr);
  ~PartialUploads();
  PartialUploads(const PartialUploads&) = delete;
  PartialUploads& operator=(const PartialUploads&) = delete;

  using Held = std::unique_ptr<PartialUpload>;

  // Makes one without bytes, on disk. Null on failure, with errno: ETOOMANYREFS if the user has too
  // many, EUSERS if all have; no file system gives these. May block.
  Held create(PartialState state);

  enum class For : std::uint8_t { kLook, kAppend };

  // Takes hold of one. If another request receives bytes for it, that one is ended, and this waits
  // for its end: the newer one wins. Null with errno: ENOENT if this user has none of this id and
  // protocol, EBUSY if another server has hold of it, or a still newer request wants to append. May
  // block.
  Held open(std::string_view id, std::string_view user, PartialState::Protocol protocol,
            For purpose);

  std::int64_t keep_s() const { return limits_.keep_s; }

  static constexpr std::size_t kIdSize = 32;  // hexadecimal digits: 128 random bits
  static bool is_id(std::string_view text);

  // Whether the name is the one of the folder.
  static bool is_folder_name(std::string_view last);

 private:
  friend class PartialUpload;

  // Who has hold of an upload, or waits for it.
  struct Busy {
    int newest_ticket = 0;
    int users = 0;
    int connection = -1;  // that the one who has hold receives from; -1: it does not
  };
  struct Known {
    std::string user = {};
    std::uint64_t size_bytes = 0;
    std::uint64_t synced_bytes = 0;  // that are on disk for certain
    std::int64_t changed_s = 0;
    bool is_complete = false;
  };
  struct Total {
    std::size_t unfinished = 0;
    std::uint64_t bytes = 0;
  };

  net::Fd open_folder(bool makes_it) const;
  std::int64_t keep_s_of(const PartialState& state) const;
  bool is_old(const PartialState& state, std::int64_t changed_s) const;
  void take(PartialUpload& upload) EXCLUDES(mutex_);
  void receive_from(const PartialUpload& upload, int connection) EXCLUDES(mutex_);
  bool is_wanted(const PartialUpload& upload) EXCLUDES(mutex_);
  void let_go(PartialUpload& upload) EXCLUDES(mutex_);
  void note(const PartialUpload& upload) EXCLUDES(mutex_);
  Total total_of(std::string_view user) EXCLUDES(mutex_);
  bool load(PartialUpload& upload);
  std::uint64_t synced_bytes_of(const PartialUpload& upload) EXCLUDES(mutex_);
  bool has_its_name(const PartialUpload& upload, const struct stat& status) const;
  void look_at(int folder, const std::string& id);
  void forget_complete_of(std::string_view user) EXCLUDES(mutex_);
  void remove_old();
  void run() EXCLUDES(mutex_);

  const std::shared_ptr<const Fence> fence_;
  const Limits limits_;
  Trash* const trash_;  // null: there is none
  Turns turns_;         // of ids

  base::Mutex mutex_;
  std::map<std::string, Busy, std::less<>> busy_ GUARDED_BY(mutex_);
  std::map<std::string, Known, std::less<>> known_ GUARDED_BY(mutex_);
  bool is_stopped_ GUARDED_BY(mutex_) = false;
  base::Condition stops_;
  std::thread thread_;
};

}  // namespace fileserver
