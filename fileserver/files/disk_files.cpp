#include "fileserver/files/disk_files.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "base/file_io.h"
#include "base/log.h"

namespace fileserver {

namespace {

constexpr std::size_t kPieceBytes = 64 * 1024;

// A file that was written to just now is given up to 105 ms to settle, because a further change
// could not be detected yet.
FileVersion settled_version(const Fence::OpenFile& file) {
  constexpr int kTries = 5;
  FileVersion version = file.version;
  for (int i = 0; i < kTries && !is_settled(version); ++i) {
    base::pause_ms(kSettlingMs + 1);
    version = version_of(file.fd.get());
  }
  return version;
}

// A file that is removed or replaced while it is sent is sent to its end.
bool is_still(const FileVersion& version, int fd) {
  const FileVersion now = version_of(fd);
  return is_settled(version) && (have_same_content(version, now) || was_only_removed(version, now));
}

// Ends a reply that is not complete. Nothing must be sent behind its bytes, whatever fails here.
void cut(serve::LineConversation& connection, std::string_view name, std::string_view reason,
         int errno_value) {
  connection.stream().abort();
  base::log::warn("the connection is cut while a file is sent file={} reason=\"{}{}{}\"",
                  base::log::quoted(name), reason, errno_value == 0 ? "" : ": ",
                  errno_value == 0 ? "" : std::strerror(errno_value));
}

}  // namespace

base::Status DiskFiles::send(std::string_view name, serve::LineConversation& connection) {
  const auto file = fence_->open_file(name, Fence::Links::kFollowed);
  if (!file) return file.error();
  const int fd = file->fd.get();
  const FileVersion version = settled_version(*file);
  auto left = static_cast<std::size_t>(version.size_bytes);
  const auto buffer = std::make_unique_for_overwrite<char[]>(std::min(left, kPieceBytes));

  auto head = connection.begin_sized_reply(left);
  do {
    const std::span<char> piece(buffer.get(), std::min(left, kPieceBytes));
    const ssize_t got = base::read_fully(fd, piece);
    if (got < 0) {
      cut(connection, name, "it cannot be read", errno);
      return base::kDone;
    }
    left -= piece.size();
    // The last piece is only sent if the file has not changed since it was opened. So a peer never
    // gets a complete file that mixes two versions.
    const bool is_good =
        got == static_cast<ssize_t>(piece.size()) && (left > 0 || is_still(version, fd));
    if (!is_good) {
      cut(connection, name, "it changed", 0);
      return base::kDone;
    }
    if (!connection.stream().send(std::exchange(head, {}), piece)) return base::kDone;
  } while (left > 0);
  return base::kDone;
}

}  // namespace fileserver
