#include "fileserver/files/cached_file.h"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <memory>
#include <new>
#include <optional>
#include <utility>

#include "base/file_io.h"
#include "base/log.h"
#include "base/waits.h"

namespace fileserver {

namespace {

using base::Error;
using base::ErrorCode;

// O_DIRECT requires addresses, offsets and sizes that are multiples of this.
constexpr std::int64_t kBlockBytes = 4096;

// Smaller files are copied into memory of exactly their size. Sending them from a region would take
// a second call.
constexpr std::int64_t kPackedBelowBytes = 16 * 1024;

std::int64_t in_whole_blocks(std::int64_t bytes) {
  return std::max(kBlockBytes, (bytes + kBlockBytes - 1) / kBlockBytes * kBlockBytes);
}

std::unique_ptr<char, FreeBytes> allocate_blocks(std::int64_t bytes) {
  return std::unique_ptr<char, FreeBytes>(
      static_cast<char*>(std::aligned_alloc(kBlockBytes, static_cast<std::size_t>(bytes))));
}

// Where a file is read to, in whole blocks.
class Target {
 public:
  Target(std::int64_t size_bytes, SendableMemory& memory) {
    if (size_bytes >= kPackedBelowBytes && map(memory.take(in_whole_blocks(size_bytes)))) return;
    data_ = allocate_blocks(in_whole_blocks(size_bytes));
  }

  // Null when memory ran out.
  char* begin() const { return mapping_ ? mapping_->data() : data_.get(); }

  // The bytes are in one of them.
  std::unique_ptr<char, FreeBytes> data() { return std::move(data_); }
  SendableMemory::Region region() {
    mapping_.reset();
    return std::move(region_);
  }

 private:
  bool map(SendableMemory::Region region) {
    if (region.is_empty()) return false;
    mapping_.emplace(region);
    if (mapping_->data() == nullptr) mapping_.reset();
    if (mapping_) region_ = std::move(region);
    return mapping_.has_value();
  }

  std::unique_ptr<char, FreeBytes> data_;
  SendableMemory::Region region_;
  std::optional<SendableMemory::Mapping> mapping_;  // of region_
};

// Returns the number of bytes read from the start of the file, or -1 with errno. It is less than
// `size_bytes` if the file is shorter now, or if may_go_on() ended the reading.
std::int64_t read_from_start(int fd, char* into, std::int64_t size_bytes, const Pieces& pieces) {
  std::int64_t have = 0;
  while (have < size_bytes && (have == 0 || pieces.may_go_on())) {
    const std::int64_t want = std::min(in_whole_blocks(size_bytes - have), pieces.max_bytes);
    const ssize_t got = base::read_at(fd, {into + have, static_cast<std::size_t>(want)}, have);
    if (got < 0) return -1;
    have += got;
    if (got == 0 || got % kBlockBytes != 0) break;  // the end of the file
  }
  return have;
}

base::Result<Fence::OpenFile> open_for_reading(const Fence& fence, std::string_view name,
                                               DirectIo& direct_io) {
  const auto io = direct_io.is_refused() ? Fence::Io::kBuffered : Fence::Io::kDirect;
  auto file = fence.open_file(name, Fence::Links::kRefused, io);
  if (!file && file.error().code == ErrorCode::kInternal)
    return Error{ErrorCode::kBusy, file.error().context};
  if (file && io == Fence::Io::kDirect && !file->is_direct)
    direct_io.refuse("open " + std::string(name) + ": Invalid argument");
  return file;
}

// Returns a copy in memory of exactly this size, or null when memory ran out.
std::unique_ptr<char, FreeBytes> packed(const char* bytes, std::int64_t size_bytes) {
  const auto size = static_cast<std::size_t>(size_bytes);
  std::unique_ptr<char, FreeBytes> copy(
      static_cast<char*>(std::malloc(std::max<std::size_t>(size, 1))));
  if (copy != nullptr) std::memcpy(copy.get(), bytes, size);
  return copy;
}

// The file whose bytes were read, without its version. Nothing when memory ran out.
std::optional<CachedFile> finished(Target& target, std::int64_t size_bytes, MemoryShare share) {
  auto data = target.data();
  if (size_bytes < kPackedBelowBytes) {
    data = packed(data.get(), size_bytes);
    if (data == nullptr) return {};
  }
  return CachedFile{.version = {},
                    .share = std::make_shared<const MemoryShare>(std::move(share)),
                    .data = std::move(data),
                    .region = target.region()};
}

// More than a loop frees without being missed: half a millisecond.
constexpr std::int64_t kFreedAtOnceBytes = 4 << 20;

void free_elsewhere(const CachedFile* file) {
  struct Freed final : base::Waits::Remains {
    explicit Freed(std::unique_ptr<const CachedFile> to_free) : file(std::move(to_free)) {}
    std::unique_ptr<const CachedFile> file;
  };
  std::unique_ptr<const CachedFile> owned(file);
  if (base::my_waits == nullptr) return;
  std::unique_ptr<Freed> freed(new (std::nothrow) Freed(std::move(owned)));
  if (freed != nullptr) base::my_waits->destroy_elsewhere(std::move(freed));
}

}  // namespace

std::shared_ptr<const CachedFile> shared(CachedFile file) {
  if (file.version.size_bytes <= kFreedAtOnceBytes)
    return std::make_shared<const CachedFile>(std::move(file));
  return {new CachedFile(std::move(file)), free_elsewhere};
}

std::int64_t memory_for(std::int64_t size_bytes) {
  return size_bytes < kPackedBelowBytes ? size_bytes : in_whole_blocks(size_bytes);
}

void DirectIo::refuse(std::string_view reason) {
  if (is_refused_.exchange(true)) return;
  base::log::warn(
      "the file system refuses O_DIRECT, files are read through the page cache reason={}",
      base::log::quoted_long(reason));
}

base::Result<CachedFile> read_whole_file(const Fence& fence, std::string_view name,
                                         MemoryShare share, const ReadOptions& options) {
  const auto failed = [&](int errno_value) {
    const auto code = errno_value == ENOMEM ? ErrorCode::kBusy : ErrorCode::kInternal;
    return base::errno_error(code, "read " + std::string(name), errno_value);
  };
  const auto file = open_for_reading(fence, name, options.direct_io);
  if (!file) return file.error();
  const FileVersion version = version_to_read(file->fd.get());
  if (!is_settled(version) || memory_for(version.size_bytes) != share.bytes()) {
    return Error{ErrorCode::kUnavailable, std::string(name) + ": the file is changing"};
  }
  Target target(version.size_bytes, options.memory);
  if (target.begin() == nullptr) return failed(ENOMEM);

  const std::int64_t got =
      read_from_start(file->fd.get(), target.begin(), version.size_bytes, options.pieces);
  if (got < 0 && errno == EINVAL && file->is_direct) {
    options.direct_io.refuse("read: Invalid argument");
    return read_whole_file(fence, name, std::move(share), options);
  }
  if (got < 0) return failed(errno);
  if (got != version.size_bytes || !have_same_content(version_of(file->fd.get()), version)) {
    return Error{ErrorCode::kUnavailable,
                 std::string(name) + ": the file changed, or reading was ended"};
  }
  auto copy = finished(target, version.size_bytes, std::move(share));
  if (!copy) return failed(ENOMEM);
  copy->version = version;
  return std::move(*copy);
}

std::optional<CachedFile> copy_own_file(int fd, std::int64_t size_bytes, MemoryShare share,
                                        SendableMemory& memory) {
  Target target(size_bytes, memory);
  if (target.begin() == nullptr) return {};
  const std::int64_t got =
      read_from_start(fd, target.begin(), size_bytes, {kOneReadBytes, [] { return true; }});
  if (got != size_bytes) return {};
  return finished(target, size_bytes, std::move(share));
}

}  // namespace fileserver
