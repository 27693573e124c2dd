#include "fileserver/files/cache_updater.h"

#include <algorithm>
#include <filesystem>
#include <fstream>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

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
constexpr std::int64_t kSmallPieceBytes = 4096;
constexpr std::int64_t kLargeBytes = std::int64_t{1} << 30;

struct Updated {
  Updated() {
    folder.write("kept", "1");
    folder.write("large", "");
    fs::resize_file(folder.path("large"), kLargeBytes);
    updater.start(updater.watch_and_list().files);
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
  CacheUpdater updater{cache, fence.root_path(), kSmallPieceBytes};
};

// A folder of which only a half has room in memory.
struct Crowded {
  static constexpr int kFiles = 8;
  static constexpr int kRoom = 4;
  static constexpr std::int64_t kBytes = 10'000;

  Crowded() {
    for (int i = 0; i < kFiles; ++i)
      folder.write(std::to_string(i), std::string(static_cast<std::size_t>(kBytes), 'x'));
    updater.start(updater.watch_and_list().files);
    while (cache.files_in_memory() < kRoom) base::pause_ms(1);
  }

  bool is_in_memory(int number) const {
    const auto entry = cache.find(std::to_string(number));
    return entry && entry->source == Source::kMemory;
  }
  int some_outside() const {
    int number = 0;
    while (is_in_memory(number)) ++number;
    return number;
  }
  void ask_until_in_memory(int number) {
    while (!is_in_memory(number)) {
      updater.note_demand(std::to_string(number), kBytes);
      base::pause_ms(1);
    }
  }

  tests::TemporaryFolder folder;
  Fence fence = std::move(*Fence::around(folder.path()));
  FileCache cache{fence, kRoom* kBytes + kFiles* FileCache::bookkeeping_bytes("0")};
  CacheUpdater updater{cache, fence.root_path()};
};

// Files that could all come in if a large one left.
struct ManyOutside {
  static constexpr int kFiles = 192;
  static constexpr std::int64_t kBytes = 28'000;
  static constexpr std::int64_t kRoomBytes = 8 * kFiles * (kBytes + 1000);

  ManyOutside() {
    folder.write("0 kept", "1");
    folder.write("0 large", "");
    fs::resize_file(folder.path("0 large"), kRoomBytes);
    for (int i = 0; i < kFiles; ++i) folder.write(std::to_string(1000 + i), content);
    // One that has settled before the large one would have its room.
    while (!has_settled(std::to_string(1000 + kFiles - 1))) base::pause_ms(1);
    updater.start(updater.watch_and_list().files);
    while (!is_in_memory("0 kept") || !is_in_memory("0 large")) base::pause_ms(1);
    cache.ask_for("0 kept", 100);
  }

  bool has_settled(const std::string& name) const {
    return is_settled(fence.open_file(name, Fence::Links::kRefused)->version);
  }
  bool is_in_memory(const std::string& name) const {
    const auto entry = cache.find(name);
    return entry && entry->source == Source::kMemory;
  }
  void ask_for_all() {
    for (int times = 0; times < 4; ++times) {
      for (int i = 0; i < kFiles; ++i) updater.note_demand(std::to_string(1000 + i), kBytes);
    }
  }

  const std::string content = std::string(static_cast<std::size_t>(kBytes), 'x');
  tests::TemporaryFolder folder;
  Fence fence = std::move(*Fence::around(folder.path()));
  // And for all names, but for none of the files.
  FileCache cache{fence, kRoomBytes + (kFiles + 8) * FileCache::bookkeeping_bytes("0 large")};
  CacheUpdater updater{cache, fence.root_path()};
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
      CacheUpdater updater(cache, fence.root_path(), kSmallPieceBytes);
      updater.start(updater.watch_and_list().files);
      while (cache.used_bytes() < kLargeBytes) base::pause_ms(1);
    }
    was_ended = cache.find("large")->source != Source::kMemory;
  }
  CHECK(was_ended);
}

TEST_CASE("an old version is not served for as long as it takes to load the new one", "[files]") {
  const tests::TemporaryFolder folder;
  folder.write("root/a", "1");
  folder.write("new", "");
  fs::resize_file(folder.path("new"), kLargeBytes);
  const Fence fence = std::move(*Fence::around(folder.path("root")));
  FileCache cache(fence, 2 * kLargeBytes);
  CacheUpdater updater(cache, fence.root_path(), kSmallPieceBytes);
  updater.start(updater.watch_and_list().files);
  const auto size_in_memory = [&] {
    const auto entry = cache.find("a");
    return entry && entry->file ? entry->file->version.size_bytes : 0;
  };
  while (size_in_memory() == 0) base::pause_ms(1);
  fs::rename(folder.path("new"), folder.path("root/a"));
  while (size_in_memory() == 1) base::pause_ms(1);
  CHECK(size_in_memory() == 0);
}

TEST_CASE("a file that inotify does not report is loaded when it is asked for", "[files]") {
  const tests::TemporaryFolder folder;
  folder.write("outside/a", "1");
  fs::create_directory(folder.path("root"));
  const Fence fence = std::move(*Fence::around(folder.path("root")));
  FileCache cache(fence, kLargeBytes);
  CacheUpdater updater(cache, fence.root_path());
  updater.start(updater.watch_and_list().files);
  fs::create_hard_link(folder.path("outside/a"), folder.path("root/a"));
  fs::remove(folder.path("outside/a"));
  updater.check_soon("a");
  for (;;) {
    const auto entry = cache.find("a");
    if (entry && entry->source == Source::kMemory) break;
    base::pause_ms(1);
  }
}

TEST_CASE("files that are asked for get the memory of others", "[files]") {
  Crowded crowded;
  const int wanted = crowded.some_outside();
  crowded.ask_until_in_memory(wanted);
  CHECK(crowded.cache.files_in_memory() == Crowded::kRoom);
}

TEST_CASE("what came in stays, and others leave for the next one", "[files]") {
  Crowded crowded;
  for (int i = 0; i < Crowded::kFiles; ++i) {
    if (crowded.is_in_memory(i)) crowded.cache.ask_for(std::to_string(i), 3);
  }
  const int first = crowded.some_outside();
  crowded.ask_until_in_memory(first);
  crowded.ask_until_in_memory(crowded.some_outside());
  CHECK(crowded.is_in_memory(first));
}

TEST_CASE("nothing leaves for a file that cannot come in", "[files]") {
  Crowded crowded;
  std::vector<int> first;
  for (int i = 0; i < Crowded::kFiles; ++i) {
    if (crowded.is_in_memory(i)) first.push_back(i);
  }
  const int other = crowded.some_outside();
  for (int i = 0; i < 1000; ++i) crowded.updater.note_demand("gone", 2 * Crowded::kBytes);
  crowded.ask_until_in_memory(other);
  CHECK(std::ranges::count_if(first, [&](int i) { return crowded.is_in_memory(i); }) ==
        Crowded::kRoom - 1);
}

TEST_CASE("a file that is removed while others come in is forgotten at once", "[files]") {
  constexpr int kTries = 10;
  bool was_forgotten_first = false;
  for (int i = 0; i < kTries && !was_forgotten_first; ++i) {
    ManyOutside many;
    many.ask_for_all();
    while (many.is_in_memory("0 large")) std::this_thread::yield();
    fs::remove(many.folder.path("0 kept"));
    while (many.cache.find("0 kept")) std::this_thread::yield();
    // On a loaded machine most may have come in meanwhile. Then try again.
    was_forgotten_first = many.cache.files_in_memory() < ManyOutside::kFiles * 3 / 4;
  }
  CHECK(was_forgotten_first);
}

// The first name has the memory. The other one has no room, not even as a name.
TEST_CASE("a change through a name that is not known is seen through the others", "[files]") {
  const tests::TemporaryFolder folder;
  folder.write("a", "old");
  fs::create_hard_link(folder.path("a"), folder.path("b"));
  const Fence fence = std::move(*Fence::around(folder.path()));
  FileCache cache(fence, 100 + FileCache::bookkeeping_bytes("a"));
  CacheUpdater updater(cache, fence.root_path());
  updater.start(updater.watch_and_list().files);
  const auto enough = base::Deadline::in_ms(10'000);
  const auto becomes = [&](std::string_view wanted) {
    for (; !enough.has_passed(); base::pause_ms(1)) {
      const auto entry = cache.find("a");
      if (entry && entry->file && std::ranges::equal(entry->file->bytes(), wanted)) return true;
    }
    return false;
  };
  REQUIRE(becomes("old"));
  REQUIRE_FALSE(cache.find("b"));
  std::ofstream(folder.path("b")) << "newer";
  CHECK(becomes("newer"));
}

// The kernel gives the inode of a folder that is gone to the next one, if it can.
TEST_CASE("a root that was made again is watched, even with the inode of an earlier one",
          "[files]") {
  const tests::TemporaryFolder folder;
  const std::string root = folder.path("root");
  fs::create_directory(root);
  const Fence fence = std::move(*Fence::around(root));
  FileCache cache(fence, kLargeBytes);
  CacheUpdater updater(cache, fence.root_path());
  const auto names = updater.watch_and_list().files;
  for (int i = 0; i < 2; ++i) {
    fs::remove_all(root);
    fs::create_directory(root);
    CHECK_FALSE(fence.status_of("a", Fence::Links::kRefused));  // opens the new root
  }
  updater.start(names);
  const auto becomes_known = [&](const std::string& name) {
    const auto enough = base::Deadline::in_ms(10'000);
    while (!cache.find(name) && !enough.has_passed()) base::pause_ms(1);
    return cache.find(name).has_value();
  };
  folder.write("root/a", "1");
  updater.check_soon("a");  // as a request for it does
  CHECK(becomes_known("a"));
  folder.write("root/b", "1");
  CHECK(becomes_known("b"));
}
