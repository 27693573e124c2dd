// One version of a file, whole, in memory.
#pragma once

#include <cstdlib>
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

  std::span<const char> bytes() const { return {data.get(), static_cast<std::size_t>(version.size_bytes)}; }
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

// Reads the whole file with O_DIRECT, in one read of its size (of at most 1 GiB each for larger ones), links not
// followed. The share must be for memory_for() its size.
// kNotFound: no such file now. kUnavailable: it is being changed, try again in a moment. kInternal: cannot be read.
base::Result<WholeFile> read_whole_file(const Fence& fence, std::string_view name, MemoryShare share,
                                        DirectReading& direct);

}  // namespace fileserver
