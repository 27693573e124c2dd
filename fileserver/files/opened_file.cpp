#include "fileserver/files/opened_file.h"

#include <sys/stat.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <utility>

#include "base/clock.h"
#include "base/file_io.h"
#include "base/log.h"
#include "base/waits.h"
#include "telemetry/counters.h"

namespace fileserver {

namespace {

// Ends a reply that is not complete. `head` also has the replies to earlier requests, so it is sent
// if it was not. Nothing must be sent behind its bytes, whatever fails here.
void cut(serve::Stream& stream, std::span<const char> head, std::string_view name,
         std::string_view reason, int errno_value) {
  if (!head.empty()) stream.send(head);
  stream.abort();
  base::log::warn("the connection is cut while a file is sent file={} reason=\"{}{}{}\"",
                  base::log::quoted_long(name), reason, errno_value == 0 ? "" : ": ",
                  errno_value == 0 ? "" : std::strerror(errno_value));
}

void send_from_memory(serve::Stream& stream, std::span<const char> head, const CachedFile& file,
                      FileRange range) {
  if (file.region.is_empty()) {
    stream.send(head, file.bytes().subspan(range.begin, range.size_bytes));
    return;
  }
  net::FilePart part = file.region.part(file.version.size_bytes);
  part.offset += static_cast<std::int64_t>(range.begin);
  part.size_bytes = range.size_bytes;
  stream.send(head, part);
}

void send_from_disk(serve::Stream& stream, std::span<const char> head, const OpenedFile& file,
                    FileRange range) {
  const int fd = file.fd.get();
  auto offset = static_cast<std::int64_t>(range.begin);
  std::size_t left = range.size_bytes;
  const std::unique_ptr<char[]> buffer(new (std::nothrow) char[std::min(left, file.piece_bytes)]);
  if (buffer == nullptr) return cut(stream, head, file.name, "out of memory", 0);
  do {
    const std::span<char> piece(buffer.get(), std::min(left, file.piece_bytes));
    const ssize_t got = base::read_fully_at(fd, piece, offset);
    if (got < 0) return cut(stream, head, file.name, "it cannot be read", errno);
    offset += got;
    left -= piece.size();
    // The last piece is only sent if the file has not changed since it was opened.
    const bool is_good = got == static_cast<ssize_t>(piece.size()) && (left > 0 || is_still(file));
    if (!is_good) return cut(stream, head, file.name, "it changed", 0);
    if (!stream.send(std::exchange(head, {}), piece)) return;
  } while (left > 0);
}

}  // namespace

bool DiskFd::may_hold_up_others() const {
  if (base::my_waits == nullptr) return false;
  struct stat now {};
  return !closes_at_once_ || ::fstat(fd_.get(), &now) != 0 || now.st_nlink == 0;
}

// A file that is removed or replaced while it is sent is sent to its end. An upload that replaces
// it takes its name away in two steps, so a file that seems to be renamed is looked at again.
bool is_still(const OpenedFile& file) {
  constexpr int kLooks = 5;
  if (!file.was_settled) return false;
  const FileVersion& version = file.version;
  for (int look = 0; look < kLooks; ++look) {
    if (look > 0) base::pause_ms(1);
    FileVersion now = base::may_block([&] { return version_of(file.fd.get()); });
    if (have_same_content(version, now) || was_only_removed(version, now)) return true;
    now.changed_ns = version.changed_ns;
    if (!have_same_content(version, now)) return false;
  }
  return false;
}

void send(serve::Stream& stream, std::span<const char> head, const OpenedFile& file,
          FileRange range) {
  const bool is_in_memory = file.cached != nullptr;
  telemetry::add(is_in_memory ? telemetry::Count::kSendsFromMemory
                              : telemetry::Count::kSendsFromDisk);
  if (is_in_memory) {
    send_from_memory(stream, head, *file.cached, range);
  } else {
    send_from_disk(stream, head, file, range);
  }
}

}  // namespace fileserver
