// Uploads that come in parts, maybe over several connections. What has come is on disk, so an
// upload goes on after a break of its connection, and after a restart or a crash of the server.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/sha256.h"
#include "fileserver/files/fence.h"
#include "fileserver/files/turns.h"
#include "fileserver/files/upload_status.h"
#include "net/fd.h"

namespace fileserver {

// What is known of an upload, but for its bytes.
struct PartialState {
  enum class Protocol : std::uint8_t { kParts, kTus };
  Protocol protocol = Protocol::kParts;
  std::string user;                           // nobody else ever meets it
  std::string head;                           // of a PUT of the file: its name and its conditions
  std::optional<std::uint64_t> length_bytes;  // of the whole file, once the client has told it
  std::optional<std::uint64_t> kept_bytes;    // what comes behind them is kept if its digest holds
  bool is_complete = false;                   // the file has its name, and the bytes are gone
};

class PartialUploads;

// One upload, of which nobody else has hold meanwhile. Functions that return false have set errno.
// They may block. Threads: one.
class PartialUpload {
 public:
  ~PartialUpload();
  PartialUpload(const PartialUpload&) = delete;
  PartialUpload& operator=(const PartialUpload&) = delete;

  const std::string& id() const { return id_; }
  const PartialState& state() const { return state_; }
  std::uint64_t offset_bytes() const { return offset_bytes_; }
  int fd() const { return fd_.get(); }

  // How long it is kept from now on if nothing more comes.
  std::int64_t left_s() const;

  // A newer request that wants the upload shuts down the reading side of this socket, until the
  // next call. -1: of none.
  void receive_from(int connection);

  // Whether a newer request wants the upload. The bytes of this one do not count any more.
  bool is_wanted() const;

  // Appends all of it, or nothing. ENOSPC also if the user has too much on the disk already.
  bool append(std::span<const char> bytes);

  // Whether so many bytes more may come. Sets errno to ENOSPC if not.
  bool has_room_for(std::uint64_t bytes) const;

  // Returns once all bytes are on disk.
  bool sync();

  // Keeps the state on disk. length: it is told once. From begin_check() to end_check() the bytes
  // that come are only kept if end_check() says so, even if the server is killed in between.
  bool set_length(std::uint64_t length_bytes);
  bool begin_check();
  bool end_check(bool holds);

  // Of all bytes. Nothing on failure.
  std::optional<base::Sha256Digest> digest();

  // The file has its name. Its bytes need no other one, and the upload is known for a while.
  // Requires for drop_bytes(): the name and the length are on disk.
  void drop_bytes();
  void complete();

  // Nothing is left of it.
  void remove();

 private:
  friend class PartialUploads;
  PartialUpload(PartialUploads& owner, std::string id);
  bool write_state(bool is_durable);
  bool cut_to(std::uint64_t size_bytes);

  PartialUploads& owner_;
  const std::string id_;
  int ticket_ = 0;
  std::optional<Turns::Turn> turn_;
  net::Fd folder_;
  net::Fd fd_;  // locked (flock), so that no other server has hold of it
  PartialState state_;
  std::uint64_t offset_bytes_ = 0;
  std::uint64_t room_checked_up_to_ = 0;
  std::int64_t changed_s_ = 0;
  bool is_removed_ = false;
};

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

  // Finds those of an earlier server, and starts the thread that removes old ones. Requires: the
  // sandbox, if any, was entered. Throws std::exception if there can be no thread.
  PartialUploads(std::shared_ptr<const Fence> fence, const Limits& limits);
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
    std::string user;
    std::uint64_t size_bytes = 0;
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
  void look_at(int folder, const std::string& id);
  void forget_complete_of(std::string_view user) EXCLUDES(mutex_);
  void remove_old();
  void run() EXCLUDES(mutex_);

  const std::shared_ptr<const Fence> fence_;
  const Limits limits_;
  Turns turns_;  // of ids

  base::Mutex mutex_;
  std::map<std::string, Busy, std::less<>> busy_ GUARDED_BY(mutex_);
  std::map<std::string, Known, std::less<>> known_ GUARDED_BY(mutex_);
  bool is_stopped_ GUARDED_BY(mutex_) = false;
  base::Condition stops_;
  std::thread thread_;
};

}  // namespace fileserver
