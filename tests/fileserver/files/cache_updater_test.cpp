#include "fileserver/files/cache_updater.h"

#include <filesystem>

#include "base/clock.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using fileserver::CacheUpdater;
using fileserver::Fence;
using fileserver::FileCache;
using Source = FileCache::Source;
namespace fs = std::filesystem;

namespace {

// So many pieces that a load takes longer than anything else in a test.
constexpr std::int64_t kPieceBytes = 4096;
constexpr std::int64_t kLargeBytes = std::int64_t{1} << 30;

struct Updated {
  Updated() {
    folder.write("kept", "1");
    folder.write("large", "");
    fs::resize_file(folder.path("large"), kLargeBytes);
    updater.start(updater.watch_and_list());
  }

  bool has(const std::string& name) const { return cache.find(name).has_value(); }
  bool is_in_memory(const std::string& name) const {
    const auto entry = cache.find(name);
    return entry && entry->source == Source::kMemory;
  }
  // The memory for a file is reserved when its load begins.
  void wait_until_large_is_loading() const {
    while (cache.used_bytes() < kLargeBytes) base::pause_ms(1);
  }

  tests::TemporaryFolder folder;
  Fence fence = std::move(*Fence::around(folder.path()));
  FileCache cache{fence, 2 * kLargeBytes};
  CacheUpdater updater{cache, fence.root_path(), kPieceBytes};
};

}  // namespace

TEST_CASE("a file that is removed while a large one is loaded is forgotten at once", "[files]") {
  constexpr int kTries = 10;
  bool was_forgotten_first = false;
  for (int i = 0; i < kTries && !was_forgotten_first; ++i) {
    Updated updated;
    updated.wait_until_large_is_loading();
    fs::remove(updated.folder.path("kept"));
    while (updated.has("kept")) base::pause_ms(1);
    // On a loaded machine the load may have ended meanwhile. Then try again.
    was_forgotten_first = !updated.is_in_memory("large");
  }
  CHECK(was_forgotten_first);
}

TEST_CASE("the updater ends while it loads a large file", "[files]") {
  constexpr int kTries = 10;
  bool was_ended = false;
  for (int i = 0; i < kTries && !was_ended; ++i) {
    const tests::TemporaryFolder folder;
    folder.write("large", "");
    fs::resize_file(folder.path("large"), kLargeBytes);
    const Fence fence = std::move(*Fence::around(folder.path()));
    FileCache cache(fence, 2 * kLargeBytes);
    {
      CacheUpdater updater(cache, fence.root_path(), kPieceBytes);
      updater.start(updater.watch_and_list());
      while (cache.used_bytes() < kLargeBytes) base::pause_ms(1);
    }
    was_ended = cache.find("large")->source != Source::kMemory;
  }
  CHECK(was_ended);
}

TEST_CASE("a file that inotify does not report is loaded when it is asked for", "[files]") {
  const tests::TemporaryFolder folder;
  folder.write("outside/a", "1");
  fs::create_directory(folder.path("root"));
  const Fence fence = std::move(*Fence::around(folder.path("root")));
  FileCache cache(fence, kLargeBytes);
  CacheUpdater updater(cache, fence.root_path());
  updater.start(updater.watch_and_list());
  fs::create_hard_link(folder.path("outside/a"), folder.path("root/a"));
  fs::remove(folder.path("outside/a"));
  updater.check_soon("a");
  for (;;) {
    const auto entry = cache.find("a");
    if (entry && entry->source == Source::kMemory) break;
    base::pause_ms(1);
  }
}
