// One version of a file, whole, in memory.
#pragma once

#include <cstdlib>
#include <functional>
#include <memory>
#include <span>
#include <string_view>

#include "fileserver/files/fence.h"
#include "fileserver/files/memory_budget.h"

namespace fileserver {

struct FreeBytes {
  void operator()(char* bytes) const { std::free(bytes); }
};

// Immutable once built. Holds its share of the budget as long as it lives.
struct WholeFile {
  FileVersion version;
  MemoryShare share;
  std::unique_ptr<char, FreeBytes> data;

  std::span<const char> bytes() const {
    return {data.get(), static_cast<std::size_t>(version.size_bytes)};
  }
};

// What a file takes in memory once it is read: a small one its size, a larger one whole blocks.
std::int64_t memory_for(std::int64_t size_bytes);

// Whether the served folder's file system has refused O_DIRECT; told once, in the log.
class DirectReading {
 public:
  bool is_refused() const { return is_refused_.load(std::memory_order_relaxed); }
  void refuse(std::string_view reason);

 private:
  std::atomic<bool> is_refused_ = false;
};

// How much of a file is read at once.
struct Pieces {
  std::int64_t at_most_bytes;       // whole blocks of 4096
  std::function<bool()> may_go_on;  // asked between two pieces; "no" ends the reading
};
inline constexpr std::int64_t kOneReadBytes =
    std::int64_t{1} << 30;  // a file in one I/O, as far as the kernel goes
inline constexpr std::int64_t kPieceBytes = 32
                                            << 20;  // what a slow disk, too, gives within a second

struct Reading {
  DirectReading& direct;  // of all that read in the served folder
  Pieces pieces;
};

// Reads the whole file with O_DIRECT, in one read of its size unless that is more than a piece,
// links not followed. The share must be for memory_for() its size. kNotFound: no such file now.
// kUnavailable: it is being changed, try again in a moment; or reading was ended. kInternal: cannot
// be read.
base::Result<WholeFile> read_whole_file(const Fence& fence, std::string_view name,
                                        MemoryShare share, const Reading& reading);

}  // namespace fileserver
