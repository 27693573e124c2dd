// A file cache of a temporary folder.
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "fileserver/files/file_cache.h"
#include "tests/temporary_folder.h"

namespace tests {

inline constexpr std::int64_t kLimitBytes = 1 << 30;
inline constexpr std::int64_t kCachePieceBytes = 1 << 20;
inline constexpr std::int64_t kTwoPiecesBytes = 2 * kCachePieceBytes;

struct Served {
  explicit Served(std::int64_t limit_bytes = kLimitBytes) : cache(fence, limit_bytes) {}

  // Loads until the file has settled: one that was written just now is refused.
  fileserver::FileCache::State load(
      const std::string& name, const std::function<bool()>& may_go_on = [] { return true; }) {
    for (;;) {
      const auto state = cache.load(name, {kCachePieceBytes, may_go_on});
      if (state != fileserver::FileCache::State::kUnsettled) return state;
      base::pause_ms(5);
    }
  }

  // "none", "on disk", or the bytes in memory.
  std::string known(const std::string& name) const {
    const auto entry = cache.find(name);
    if (!entry) return "none";
    if (!entry->file) return "on disk";
    const auto bytes = entry->file->bytes();
    return {bytes.begin(), bytes.end()};
  }

  TemporaryFolder folder;
  fileserver::Fence fence = std::move(*fileserver::Fence::around(folder.path()));
  fileserver::FileCache cache;
};

}  // namespace tests
