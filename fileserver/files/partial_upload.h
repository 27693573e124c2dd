// One upload that comes in parts, maybe over several connections.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>

#include "base/sha256.h"
#include "fileserver/files/partial_state.h"
#include "fileserver/files/turns.h"
#include "net/fd.h"

namespace fileserver {

class PartialUploads;
class Trash;

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

  // Appends all of it, or nothing. ENOSPC also if the user has too much on the disk already. The
  // oldest things in the trash make room for it.
  bool append(std::span<const char> bytes);

  // Whether so many bytes more may come, if the trash made room for them. Sets errno to ENOSPC if
  // not.
  bool has_room_for(std::uint64_t bytes) const;

  // Returns once all bytes are on disk. What may not be there on failure, which the system tells
  // once, does not count any more: the offset is that of the last success.
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
  enum class Lack : std::uint8_t { kNothing, kOnDisk, kOfUser };

  PartialUpload(PartialUploads& owner, std::string id);
  bool write(bool is_durable);
  bool write_at_end(std::span<const char> bytes);
  bool cut_to(std::uint64_t size_bytes);
  Lack lack_for(std::uint64_t bytes, std::uint64_t removable_bytes) const;
  bool make_room_for(std::uint64_t bytes);
  Trash* trash() const;

  PartialUploads& owner_;
  const std::string id_;
  int ticket_ = 0;
  std::optional<Turns::Turn> turn_;
  net::Fd folder_;
  net::Fd fd_;  // locked (flock), so that no other server has hold of it
  PartialState state_;
  std::uint64_t offset_bytes_ = 0;
  std::uint64_t synced_bytes_ = 0;  // that are on disk for certain
  std::uint64_t room_checked_up_to_ = 0;
  std::int64_t changed_s_ = 0;
  bool is_removed_ = false;
};

}  // namespace fileserver
