// A file that was opened for one request, and how its bytes are sent.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string_view>
#include <utility>

#include "base/waits.h"
#include "fileserver/files/cached_file.h"
#include "fileserver/files/file_version.h"
#include "net/fd.h"
#include "serve/stream.h"

namespace fileserver {

constexpr std::size_t kDefaultPieceBytes = 64 * 1024;

// Owns the descriptor of a file on disk, or none, and closes it with base::close_file(), unless it
// closes at once. With the last descriptor of a file that was removed, its blocks are freed, which
// is never at once.
class DiskFd {
 public:
  DiskFd() = default;
  DiskFd(net::Fd fd, bool closes_at_once) : fd_(std::move(fd)), closes_at_once_(closes_at_once) {}
  DiskFd(DiskFd&&) noexcept = default;
  DiskFd& operator=(DiskFd&&) noexcept = default;
  ~DiskFd() {
    if (fd_.is_open() && may_hold_up_others()) base::close_file(fd_.release());
  }

  bool is_open() const { return fd_.is_open(); }
  int get() const { return fd_.get(); }

 private:
  bool may_hold_up_others() const;

  net::Fd fd_;
  bool closes_at_once_ = false;
};

// One version of a file, which stays what it is while this lives. Making and moving it does not
// allocate. Threads: one.
struct OpenedFile {
  std::string_view name;  // as it was asked for, for the log; it must outlive this
  FileVersion version;

  // Whether a change since the version was looked at gives another version. Of a file on disk for
  // which that is not so, nobody gets a complete range.
  bool was_settled = true;

  // The bytes are in one of these, and the other one is empty: in memory, shared with the cache, or
  // on disk.
  std::shared_ptr<const CachedFile> cached = nullptr;
  DiskFd fd = {};
  std::size_t piece_bytes = kDefaultPieceBytes;  // of a file on disk: what one read asks for

  std::uint64_t size_bytes() const { return static_cast<std::uint64_t>(version.size_bytes); }
};

// Whether a file on disk that is read to its end now was of one version all the time. True also if
// it was removed or replaced meanwhile.
bool is_still(const OpenedFile& file);

struct FileRange {
  std::uint64_t begin;
  std::uint64_t size_bytes;
};

// Sends the head, and behind it these bytes of the file, in one system call if they are in memory
// and fit into the socket. A file on disk that cannot be read, or that changes before the last of
// these bytes is sent, cuts the stream: a peer never gets a complete range of a mixed version. So
// several ranges of one OpenedFile are of one version, too.
//
// Requires: the range is within the file.
void send(serve::Stream& stream, std::span<const char> head, const OpenedFile& file,
          FileRange range);

}  // namespace fileserver
