// One version of a file, whole, in memory, and how it is read.
#pragma once

#include <atomic>
#include <cstdlib>
#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <string_view>
#include <utility>

#include "base/sha256.h"
#include "fileserver/files/fence.h"
#include "fileserver/files/memory_budget.h"
#include "fileserver/files/sendable_memory.h"

namespace fileserver {

// The digest of one version of a file, once it was computed.
//
// Empty until set() is called, and small until then, because nobody asks for most digests. Any
// thread; but it is moved by one, before others see it.
class KeptDigest {
 public:
  KeptDigest() = default;
  KeptDigest(KeptDigest&& other) noexcept { *this = std::move(other); }
  KeptDigest& operator=(KeptDigest&& other) noexcept {
    digest_ = std::move(other.digest_);
    is_set_.store(other.is_set_.load());
    return *this;
  }

  std::optional<base::Sha256Digest> get() const {
    if (!is_set_.load(std::memory_order_acquire)) return {};
    return *digest_;
  }

  // Requires: it is empty, and no other thread sets it now.
  void set(const base::Sha256Digest& digest) {
    digest_ = std::make_unique<const base::Sha256Digest>(digest);
    is_set_.store(true, std::memory_order_release);
  }

 private:
  std::unique_ptr<const base::Sha256Digest> digest_;
  std::atomic<bool> is_set_ = false;  // release: behind the digest
};

struct FreeBytes {
  void operator()(char* bytes) const { std::free(bytes); }
};

// Immutable once built, but for its digest. Holds its share of the memory budget until it is
// destroyed.
struct CachedFile {
  // It was settled when the bytes were read, or is that of an upload, which has a time of its own.
  FileVersion version;
  std::shared_ptr<const MemoryShare> share;  // given back after the bytes are freed

  // The bytes are in one of these, and the other one is empty: in `region`, if the file is large
  // enough that sending without a copy pays, and if the system has such memory.
  std::unique_ptr<char, FreeBytes> data;
  SendableMemory::Region region;

  mutable KeptDigest digest = {};  // of the bytes; Digests sets it

  // Whether these are certainly the bytes of the file, whose version is `now`.
  bool is_of(const FileVersion& now) const { return have_same_content(version, now); }

  // Requires: they are in `data`.
  std::span<const char> bytes() const {
    return {data.get(), static_cast<std::size_t>(version.size_bytes)};
  }
};

// To be shared by those who send it. Who lets go last frees a large one in a thread that may block:
// the pages of 1 GiB take a tenth of a second.
std::shared_ptr<const CachedFile> shared(CachedFile file);

// The memory that a file of this size takes. Files under 16 KiB take their size and are in
// CachedFile::data, larger ones take whole blocks of 4096 bytes.
std::int64_t memory_for(std::int64_t size_bytes);

// Whether the served folder's file system allows O_DIRECT. Any thread.
class DirectIo {
 public:
  bool is_refused() const { return is_refused_.load(std::memory_order_relaxed); }

  // All files are read through the page cache from now on. The first call logs the reason.
  void refuse(std::string_view reason);

 private:
  std::atomic<bool> is_refused_ = false;
};

// How a file is divided into reads.
struct Pieces {
  std::int64_t max_bytes;           // of one read; a multiple of 4096
  std::function<bool()> may_go_on;  // called between two reads; false ends the reading
};

// As much as one read can give: nearly every file is one read.
inline constexpr std::int64_t kOneReadBytes = std::int64_t{1} << 30;

// What even a slow disk delivers within a second.
inline constexpr std::int64_t kPieceBytes = 32 << 20;

struct ReadOptions {
  DirectIo& direct_io;     // shared by all reads in the served folder
  SendableMemory& memory;  // must outlive the files
  Pieces pieces;
};

// Reads the whole file, with O_DIRECT unless that was refused. Links are not followed. Requires:
// the share is for memory_for() of the file's size. On failure the share is given back:
// - kNotFound: there is no such file.
// - kUnavailable: the file is changing, or may_go_on() returned false. Try again in a moment.
// - kBusy: the file could not be opened, or kept, because of an is_system_failure() (fence.h).
// - kInternal: the file cannot be read. The context says why.
base::Result<CachedFile> read_whole_file(const Fence& fence, std::string_view name,
                                         MemoryShare share, const ReadOptions& options);

// Copies a file that nobody writes to any more, and that this process has just written: its bytes
// are in the page cache. The version is left empty. Nothing if memory ran out, or the file cannot
// be read. Requires: the share is for memory_for() of the file's size.
std::optional<CachedFile> copy_own_file(int fd, std::int64_t size_bytes, MemoryShare share,
                                        SendableMemory& memory);

}  // namespace fileserver
