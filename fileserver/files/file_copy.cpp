#include "fileserver/files/file_copy.h"

#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <memory>

#include "base/clock.h"
#include "base/file_io.h"

namespace fileserver {

namespace {

constexpr std::int64_t kCopiedAtOnceBytes = 16 << 20;
constexpr std::size_t kBufferBytes = 1 << 20;
constexpr int kCopyTries = 4;

// Returns how many bytes were copied. 0 at the end of the file, or if the system cannot do it.
std::int64_t copied_by_system(int from, int to, std::int64_t offset, std::int64_t size) {
  off64_t from_offset = offset;
  off64_t to_offset = offset;
  const ssize_t copied = base::retried([&] {
    return ::copy_file_range(from, &from_offset, to, &to_offset, static_cast<std::size_t>(size), 0);
  });
  return std::max<std::int64_t>(copied, 0);
}

// Returns how many bytes were copied, or -1 with errno. 0 at the end of the file.
std::int64_t copied_by_hand(int from, int to, std::int64_t offset, std::int64_t size) {
  const auto most = static_cast<std::size_t>(std::min<std::int64_t>(size, kBufferBytes));
  const auto buffer = std::make_unique_for_overwrite<char[]>(most);
  const ssize_t got = base::read_fully_at(from, {buffer.get(), most}, offset);
  if (got <= 0) return got;
  if (::lseek(to, offset, SEEK_SET) < 0) return -1;
  return base::write_all(to, {buffer.get(), static_cast<std::size_t>(got)}) ? got : -1;
}

// Returns 0 or an errno. EBUSY if the file has fewer bytes.
int copy_bytes(int from, int to, std::int64_t size_bytes, const MayGoOn& may_go_on) {
  bool can_system = true;
  for (std::int64_t offset = 0; offset < size_bytes;) {
    if (!may_go_on()) return ECANCELED;
    const std::int64_t piece = std::min(size_bytes - offset, kCopiedAtOnceBytes);
    std::int64_t copied = can_system ? copied_by_system(from, to, offset, piece) : 0;
    can_system = copied > 0;
    // It also says whether the disk is full.
    if (!can_system) copied = copied_by_hand(from, to, offset, piece);
    if (copied < 0) return errno;
    if (copied == 0) return EBUSY;
    offset += copied;
  }
  return 0;
}

}  // namespace

int copy_one_version(int from, int to, const MayGoOn& may_go_on) {
  for (int i = 0; i < kCopyTries; ++i) {
    FileVersion version = version_to_read(from);
    if (const int left_ms = unsettled_ms(version); left_ms > 0) {
      base::pause_ms(left_ms);
      version = version_to_read(from);
    }
    if (version.size_bytes < 0) return EIO;
    const int failure = copy_bytes(from, to, version.size_bytes, may_go_on);
    if (failure != 0 && failure != EBUSY) return failure;
    if (failure == 0 && is_settled(version) && have_same_content(version, version_of(from)))
      return 0;
    if (::ftruncate(to, 0) != 0) return errno;
  }
  return EBUSY;
}

}  // namespace fileserver
