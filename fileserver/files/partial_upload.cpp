#include "fileserver/files/partial_upload.h"

#include <fcntl.h>
#include <sys/stat.h>
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
#include "fileserver/files/trash.h"

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

PartialUpload::Lack PartialUpload::lack_for(std::uint64_t bytes,
                                            std::uint64_t removable_bytes) const {
  struct statvfs status {};
  if (::fstatvfs(fd_.get(), &status) != 0 || status.f_blocks == 0) return Lack::kNothing;
  const std::uint64_t all = std::uint64_t{status.f_blocks} * status.f_frsize;
  const std::uint64_t free = std::uint64_t{status.f_bavail} * status.f_frsize + removable_bytes;
  owner_.note(*this);
  const std::uint64_t own = owner_.total_of(state_.user).bytes;
  if (bytes > all || own + bytes > all / kShareOfUser) return Lack::kOfUser;
  const std::uint64_t left = std::min(all / kShareLeftFree, kMostLeftFree);
  return bytes + left <= free ? Lack::kNothing : Lack::kOnDisk;
}

Trash* PartialUpload::trash() const {
  const bool makes_room = owner_.trash_ != nullptr && owner_.trash_->makes_room_in(folder_.get());
  return makes_room ? owner_.trash_ : nullptr;
}

// What is announced and not yet sent removes nothing from the trash.
bool PartialUpload::has_room_for(std::uint64_t bytes) const {
  return base::may_block_with_errno([&] {
    Lack lack = lack_for(bytes, 0);
    const Trash* const removable = lack == Lack::kOnDisk ? trash() : nullptr;
    if (removable != nullptr) lack = lack_for(bytes, removable->removable_bytes(folder_.get()));
    if (lack == Lack::kNothing) return true;
    errno = ENOSPC;
    return false;
  });
}

bool PartialUpload::make_room_for(std::uint64_t bytes) {
  for (;;) {
    const Lack lack = lack_for(bytes, 0);
    if (lack == Lack::kNothing) return true;
    Trash* const removable = lack == Lack::kOnDisk ? trash() : nullptr;
    if (removable == nullptr || !removable->remove_oldest()) break;
    ::syncfs(folder_.get());  // some file systems tell only then what is free
  }
  errno = ENOSPC;
  return false;
}

// All of it, or nothing.
bool PartialUpload::write_at_end(std::span<const char> bytes) {
  while (!write_at(fd_.get(), bytes, offset_bytes_)) {
    const int failure = errno;
    cut_to(offset_bytes_);
    const bool is_full = failure == ENOSPC || failure == EDQUOT;
    Trash* const removable = is_full ? trash() : nullptr;
    if (removable != nullptr && removable->remove_oldest()) continue;
    errno = failure;
    return false;
  }
  return true;
}

bool PartialUpload::append(std::span<const char> bytes) {
  if (is_wanted()) {
    errno = ECANCELED;
    return false;
  }
  const std::uint64_t end = offset_bytes_ + bytes.size();
  return base::may_block_with_errno([&] {
    if (end > room_checked_up_to_) {
      const bool has_much = lack_for(kStepBytes, 0) == Lack::kNothing;
      if (!has_much && !make_room_for(bytes.size())) return false;
      room_checked_up_to_ = has_much ? end + kStepBytes : end;
    }
    if (!write_at_end(bytes)) return false;
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
  bool is_cut = true;
  const bool is_synced = base::may_block_with_errno([&] {
    if (base::sync(fd_.get())) return true;
    const int failure = errno;
    struct stat status {};
    const bool is_only_ours = ::fstat(fd_.get(), &status) == 0 && status.st_nlink == 1;
    is_cut = is_only_ours && cut_to(synced_bytes_);
    errno = failure;
    return false;
  });
  const int failure = errno;
  if (is_synced) {
    synced_bytes_ = offset_bytes_;
  } else if (is_cut) {
    offset_bytes_ = synced_bytes_;
  } else {
    remove();
  }
  errno = failure;
  return is_synced;
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
  if (holds && !sync()) return false;
  const std::uint64_t kept = std::min(
      std::exchange(state_.kept_bytes, std::nullopt).value_or(offset_bytes_), offset_bytes_);
  return base::may_block_with_errno([&] {
    if (!holds) {
      if (!cut_to(kept)) return false;
      offset_bytes_ = kept;
      synced_bytes_ = std::min(synced_bytes_, kept);
    }
    return write(false);
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
