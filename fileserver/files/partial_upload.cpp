#include "fileserver/files/partial_upload.h"

#include <fcntl.h>
#include <sys/statvfs.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <ctime>
#include <utility>
#include <vector>

#include "base/file_io.h"
#include "base/waits.h"
#include "fileserver/files/partial_uploads.h"

namespace fileserver {

namespace {

constexpr std::uint64_t kStepBytes = 8 << 20;  // between two looks at the room on the disk
constexpr std::uint64_t kShareOfUser = 2;      // of the file system: a half
constexpr std::uint64_t kShareLeftFree = 20;   // a twentieth, but not more than this
constexpr std::uint64_t kMostLeftFree = 256 << 20;

bool write_at(int fd, std::span<const char> bytes, std::uint64_t offset) {
  while (!bytes.empty()) {
    const ssize_t written = base::retried(
        [&] { return ::pwrite(fd, bytes.data(), bytes.size(), static_cast<off_t>(offset)); });
    if (written <= 0) {
      if (written == 0) errno = EIO;
      return false;
    }
    bytes = bytes.subspan(static_cast<std::size_t>(written));
    offset += static_cast<std::uint64_t>(written);
  }
  return true;
}

}  // namespace

PartialUpload::PartialUpload(PartialUploads& owner, std::string id)
    : owner_(owner), id_(std::move(id)) {
  owner_.take(*this);
}

// Closed before another one has the turn, which would find the lock taken.
PartialUpload::~PartialUpload() {
  const int failure = errno;  // of what is given up
  base::may_block_long([this] {
    fd_ = {};
    folder_ = {};
  });
  errno = failure;
  owner_.let_go(*this);
}

std::int64_t PartialUpload::left_s() const {
  return std::max<std::int64_t>(0, changed_s_ + owner_.keep_s_of(state_) - std::time(nullptr));
}

void PartialUpload::receive_from(int connection) { owner_.receive_from(*this, connection); }

bool PartialUpload::is_wanted() const { return owner_.is_wanted(*this); }

bool PartialUpload::has_room_for(std::uint64_t bytes) const {
  return base::may_block_with_errno([&] {
    struct statvfs status {};
    if (::fstatvfs(fd_.get(), &status) != 0 || status.f_blocks == 0) return true;
    const std::uint64_t all = std::uint64_t{status.f_blocks} * status.f_frsize;
    const std::uint64_t free = std::uint64_t{status.f_bavail} * status.f_frsize;
    owner_.note(*this);
    const std::uint64_t own = owner_.total_of(state_.user).bytes;
    const bool has_room = bytes <= all && own + bytes <= all / kShareOfUser &&
                          bytes + std::min(all / kShareLeftFree, kMostLeftFree) <= free;
    if (!has_room) errno = ENOSPC;
    return has_room;
  });
}

bool PartialUpload::append(std::span<const char> bytes) {
  if (is_wanted()) {
    errno = ECANCELED;
    return false;
  }
  const std::uint64_t end = offset_bytes_ + bytes.size();
  if (end > room_checked_up_to_) {
    const bool has_much = has_room_for(kStepBytes);
    if (!has_much && !has_room_for(bytes.size())) return false;
    room_checked_up_to_ = has_much ? end + kStepBytes : end;
  }
  return base::may_block_with_errno([&] {
    if (!write_at(fd_.get(), bytes, offset_bytes_)) {
      const int failure = errno;
      cut_to(offset_bytes_);
      errno = failure;
      return false;
    }
    const auto block = static_cast<off_t>(offset_bytes_ / kStepBytes * kStepBytes);
    const auto next = static_cast<off_t>(end / kStepBytes * kStepBytes);
    if (next > block) ::sync_file_range(fd_.get(), block, next - block, SYNC_FILE_RANGE_WRITE);
    offset_bytes_ = end;
    changed_s_ = std::time(nullptr);
    return true;
  });
}

bool PartialUpload::cut_to(std::uint64_t size_bytes) {
  return base::retried([&] { return ::ftruncate(fd_.get(), static_cast<off_t>(size_bytes)); }) == 0;
}

bool PartialUpload::sync() {
  return base::may_block_with_errno([&] { return base::sync(fd_.get()); });
}

bool PartialUpload::write(bool is_durable) {
  return write_state(folder_.get(), id_, state_, is_durable);
}

bool PartialUpload::set_length(std::uint64_t length_bytes) {
  state_.length_bytes = length_bytes;
  return base::may_block_with_errno([&] { return write(false); });
}

bool PartialUpload::begin_check() {
  state_.kept_bytes = offset_bytes_;
  return base::may_block_with_errno([&] { return write(false); });
}

bool PartialUpload::end_check(bool holds) {
  const std::uint64_t kept = std::exchange(state_.kept_bytes, std::nullopt).value_or(offset_bytes_);
  return base::may_block_with_errno([&] {
    if (!holds) {
      if (!cut_to(kept)) return false;
      offset_bytes_ = kept;
    }
    return (!holds || base::sync(fd_.get())) && write(false);
  });
}

std::optional<base::Sha256Digest> PartialUpload::digest() {
  base::Sha256 sha256;
  const bool is_read = base::may_block_with_errno([&] {
    std::vector<char> piece(1 << 20);
    for (std::uint64_t at = 0; at < offset_bytes_;) {
      const ssize_t size = base::read_at(fd_.get(), piece, static_cast<std::int64_t>(at));
      if (size <= 0) {
        if (size == 0) errno = EIO;
        return false;
      }
      sha256.add(std::span(piece).first(static_cast<std::size_t>(size)));
      at += static_cast<std::uint64_t>(size);
    }
    return true;
  });
  if (!is_read) return {};
  return sha256.finish();
}

void PartialUpload::complete() {
  state_.is_complete = true;
  state_.length_bytes = offset_bytes_;
  const bool is_kept = base::may_block_with_errno([&] {
    if (!write(true)) return false;
    drop_bytes();
    return true;
  });
  if (!is_kept) remove();
}

void PartialUpload::drop_bytes() { ::unlinkat(folder_.get(), id_.c_str(), 0); }

void PartialUpload::remove() {
  is_removed_ = true;
  base::may_block_long([&] {
    remove_state(folder_.get(), id_);
    drop_bytes();
    fd_ = {};
  });
}

}  // namespace fileserver
