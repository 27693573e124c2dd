#include "fileserver/files/file_cache.h"

#include <algorithm>
#include <ctime>
#include <filesystem>

#include "base/clock.h"
#include "tests/catch.h"
#include "tests/fileserver/files/no_descriptors.h"
#include "tests/fileserver/files/served_cache.h"

using fileserver::Fence;
using fileserver::FileCache;
using Source = FileCache::Source;
using State = FileCache::State;
using tests::kCachePieceBytes;
using tests::kLimitBytes;
using tests::kTwoPiecesBytes;
using tests::Served;
namespace fs = std::filesystem;

TEST_CASE("a new file is served from disk until it is loaded", "[files]") {
  Served served;
  served.folder.write("a", "first");
  CHECK(served.cache.check("a") != State::kCurrent);
  CHECK(served.known("a") == "on disk");
  CHECK(served.load("a") == State::kCurrent);
  CHECK(served.known("a") == "first");
  CHECK(served.cache.check("a") == State::kCurrent);
}

TEST_CASE("the known version of a file that changed stays until the new one is loaded", "[files]") {
  Served served;
  served.folder.write("a", "first");
  served.load("a");
  served.folder.write("a", "second");
  CHECK(served.cache.check("a") != State::kCurrent);
  CHECK(served.known("a") == "first");
  CHECK(served.load("a") == State::kCurrent);
  CHECK(served.known("a") == "second");
}

TEST_CASE("the version in memory can be dropped, and the file is served from disk", "[files]") {
  Served served;
  served.folder.write("a", "first");
  served.load("a");
  served.cache.serve_from_disk("a");
  CHECK(served.known("a") == "on disk");
  CHECK(served.cache.used_bytes() == FileCache::bookkeeping_bytes("a"));
  served.cache.serve_from_disk("unknown");
  CHECK(served.known("unknown") == "none");
}

TEST_CASE("a rename forgets both names, unless it fails", "[files]") {
  Served served;
  served.folder.write("a", "first");
  served.folder.write("b", "second");
  served.load("a");
  served.load("b");
  CHECK_FALSE(served.cache.rename("a", "b", [] { return false; }));
  CHECK(served.known("a") == "first");
  CHECK(served.known("b") == "second");
  CHECK(served.cache.rename("b", "a", [&] {
    fs::rename(served.folder.path("b"), served.folder.path("a"));
    return true;
  }));
  CHECK(served.known("a") == "none");
  CHECK(served.known("b") == "none");
}

TEST_CASE("a check forgets a file that is gone", "[files]") {
  Served served;
  served.folder.write("a", "first");
  served.load("a");
  fs::remove(served.folder.path("a"));
  CHECK(served.cache.check("a") == State::kCurrent);
  CHECK(served.known("a") == "none");
}

TEST_CASE("a check without descriptors changes nothing", "[files]") {
  Served served;
  served.folder.write("a", "first");
  served.load("a");
  fs::remove(served.folder.path("a"));
  const auto check_in_vain = [&] {
    const tests::NoDescriptors none;
    return served.cache.check("a");
  };
  CHECK(check_in_vain() == State::kUnchecked);
  CHECK(served.known("a") == "first");
  CHECK(served.cache.check("a") == State::kCurrent);
  CHECK(served.known("a") == "none");
}

TEST_CASE("a version is not kept if the file is removed or replaced while it is read", "[files]") {
  Served served;
  const auto prepare = [&] {
    served.folder.write("large", "");
    fs::resize_file(served.folder.path("large"), kTwoPiecesBytes);
  };
  prepare();
  const auto state_after_removal = served.load("large", [&] {
    fs::remove(served.folder.path("large"));
    return true;
  });
  CHECK(state_after_removal == State::kCurrent);
  CHECK(served.known("large") == "none");

  prepare();
  const auto replace = [&] {
    served.folder.write("fresh", "small");
    fs::rename(served.folder.path("fresh"), served.folder.path("large"));
    return true;
  };
  served.load("large", replace);
  CHECK(served.load("large") == State::kCurrent);
  CHECK(served.known("large") == "small");
}

TEST_CASE("a version is not kept if its folder leaves, or is replaced, while it is read",
          "[files]") {
  Served served;
  const std::string before = served.folder.path("sub");
  const auto prepare = [&] {
    served.folder.write("sub/large", "");
    fs::resize_file(served.folder.path("sub/large"), kTwoPiecesBytes);
  };
  prepare();
  const auto state_after_removal = served.load("sub/large", [&] {
    fs::rename(before, served.folder.path("gone"));
    return true;
  });
  CHECK(state_after_removal == State::kCurrent);
  CHECK(served.known("sub/large") == "none");

  prepare();
  served.folder.write("fresh/large", "small");
  served.load("sub/large", [&] {
    fs::rename(before, served.folder.path("old"));
    fs::rename(served.folder.path("fresh"), before);
    return true;
  });
  CHECK(served.known("sub/large").size() < kTwoPiecesBytes);
  CHECK(served.load("sub/large") == State::kCurrent);
  CHECK(served.known("sub/large") == "small");
}

TEST_CASE("a load that is ended keeps the known version", "[files]") {
  Served served;
  served.folder.write("large", "");
  CHECK(served.load("large") == State::kCurrent);
  fs::resize_file(served.folder.path("large"), kTwoPiecesBytes);
  bool was_asked = false;
  const auto ask_and_refuse = [&] {
    was_asked = true;
    return false;
  };
  while (!was_asked) {
    CHECK(served.cache.load("large", {kCachePieceBytes, ask_and_refuse}) == State::kUnsettled);
    base::pause_ms(5);
  }
  CHECK(served.known("large").empty());
}

TEST_CASE("a request keeps the version that it found, after a newer one is loaded", "[files]") {
  Served served;
  served.folder.write("a", "first");
  served.load("a");
  const auto held = served.cache.find("a");
  served.folder.write("a", "second");
  served.load("a");
  CHECK(served.known("a") == "second");
  CHECK(held->file->version.size_bytes == 5);
}

TEST_CASE("forgetting a folder forgets all files below it, and no others", "[files]") {
  Served served;
  for (const char* name : {"dir/a", "dir/sub/b", "dirt", "other/dir/c", "more/d"}) {
    served.folder.write(name, "");
    served.cache.check(name);
  }
  auto below = served.cache.names_below({"dir", "more"});
  std::sort(below.begin(), below.end());
  CHECK(below == std::vector<std::string>{"dir/a", "dir/sub/b", "more/d"});
  served.cache.forget_below({"dir", "more"});
  CHECK(served.cache.names().size() == 2);
  CHECK(served.known("dirt") == "on disk");
  CHECK(served.known("other/dir/c") == "on disk");
}

TEST_CASE("the cache knows all names of a file, as long as it has them", "[files]") {
  Served served;
  const auto names_with = [&](const std::string& name) {
    const auto entry = served.cache.find(name);
    auto names = served.cache.names_of(entry ? entry->inode : 0);
    std::sort(names.begin(), names.end());
    return names;
  };
  served.folder.write("sub/a", "1");
  fs::create_hard_link(served.folder.path("sub/a"), served.folder.path("b"));
  fs::create_hard_link(served.folder.path("sub/a"), served.folder.path("c"));
  served.folder.write("other", "1");
  for (const char* name : {"sub/a", "b", "c", "other"}) served.load(name);
  CHECK(names_with("b") == std::vector<std::string>{"b", "c", "sub/a"});
  CHECK(names_with("other") == std::vector<std::string>{"other"});

  fs::rename(served.folder.path("other"), served.folder.path("c"));
  served.cache.check("other");
  served.cache.check("c");
  CHECK(names_with("b") == std::vector<std::string>{"b", "sub/a"});
  CHECK(names_with("c") == std::vector<std::string>{"c"});

  served.cache.forget_below({"sub"});
  CHECK(names_with("b") == std::vector<std::string>{"b"});
}

TEST_CASE("the cache knows which files are over the limit", "[files]") {
  Served served(4 + FileCache::bookkeeping_bytes("large") + FileCache::bookkeeping_bytes("small"));
  served.folder.write("large", std::string(1000, 'x'));
  served.cache.check("large");
  CHECK(served.cache.find("large")->source == Source::kDisk);
  CHECK(served.load("large") == State::kCurrent);
  CHECK(served.cache.find("large")->source == Source::kDiskOverLimit);
  served.folder.write("small", "1234");
  CHECK(served.load("small") == State::kCurrent);
  CHECK(served.cache.find("small")->source == Source::kMemory);
  const auto first = served.cache.least_wanted(1, 1);
  REQUIRE(first.size() == 1);
  CHECK(first[0].name == "large");
  CHECK(first[0].bytes == FileCache::bookkeeping_bytes("large"));
}

TEST_CASE("a request for a file without room in memory is counted elsewhere", "[files]") {
  Served served;
  served.folder.write("a", "1");
  served.load("a");
  served.cache.ask_for("a");
  served.cache.serve_from_disk("a");
  CHECK(served.cache.ask_for("a", 5)->source == Source::kDisk);
  CHECK(served.cache.times() == 1);
}

TEST_CASE("a file may come in if it is there, has settled and still has the size", "[files]") {
  Served served;
  served.folder.write("a", std::string(1000, 'x'));
  const std::int64_t bytes = 1000 + FileCache::bookkeeping_bytes("a");
  while (served.cache.check("a") == State::kUnsettled) {
    CHECK_FALSE(served.cache.may_come_in("a", bytes));
    base::pause_ms(5);
  }
  CHECK(served.cache.may_come_in("a", bytes));
  CHECK_FALSE(served.cache.may_come_in("a", bytes - 1));
  CHECK_FALSE(served.cache.may_come_in("gone", bytes));
}

TEST_CASE("those that are asked for least leave the memory, but none that is sent", "[files]") {
  Served served;
  for (const char* const name : {"a", "b", "c"}) {
    served.folder.write(name, std::string(1000, 'x'));
    served.load(name);
  }
  served.cache.ask_for("a", 3);
  served.cache.ask_for("b", 5);
  const auto least = [&](std::int64_t bytes, std::uint32_t times = 100) {
    std::string names;
    for (const auto& file : served.cache.least_wanted(bytes, times)) names += file.name;
    return names;
  };
  CHECK(least(1) == "c");
  CHECK(least(1000 + FileCache::bookkeeping_bytes("c")) == "c");
  CHECK(least(1001 + FileCache::bookkeeping_bytes("c")) == "ca");
  CHECK(least(kLimitBytes) == "cab");
  CHECK(least(kLimitBytes, 7) == "ca");
  {
    const auto sent = served.cache.find("a");
    CHECK(least(kLimitBytes) == "cb");
  }
  CHECK(served.cache.times() == 8);
  served.cache.forget_old_times(1);
  CHECK(served.cache.times() == 3);
  served.cache.forget("b");
  CHECK(served.cache.times() == 1);
  const std::int64_t used_bytes = served.cache.used_bytes();
  served.cache.forget("c");
  CHECK(served.known("c") == "none");
  CHECK(used_bytes - served.cache.used_bytes() == 1000 + FileCache::bookkeeping_bytes("c"));
}

TEST_CASE("a load without enough descriptors keeps the known version", "[files]") {
  Served served;
  served.folder.write("a", "first");
  served.load("a");
  served.folder.write("a", "second");
  while (served.cache.check("a") == State::kUnsettled) base::pause_ms(5);
  {
    const tests::OneDescriptor enough_to_check_but_not_to_read;
    CHECK(served.load("a") == State::kUnchecked);
  }
  CHECK(served.known("a") == "first");
  CHECK(served.load("a") == State::kCurrent);
  CHECK(served.known("a") == "second");
}

TEST_CASE("the cache knows which files could not be read", "[files]") {
  // The loopback device has no speed, and the kernel says so when the file is read.
  const auto fence = Fence::around("/sys/devices/virtual/net/lo");
  if (!fence || !fence->open_file("speed", Fence::Links::kRefused)) return;
  FileCache cache(*fence, kLimitBytes);
  while (cache.load("speed", {kCachePieceBytes, [] { return true; }}) == State::kUnsettled)
    base::pause_ms(5);
  CHECK(cache.find("speed")->source == Source::kDiskUnreadable);
}

TEST_CASE("many folders are forgotten in about the time that one takes", "[files]") {
  Served served;
  for (int i = 0; i < 2000; ++i) {
    const std::string name = "kept/" + std::to_string(i);
    served.folder.write(name, "");
    served.cache.check(name);
  }
  const auto time_to_forget = [&](int count) {
    fileserver::Names folders;
    for (int i = 0; i < count; ++i) folders.insert("gone" + std::to_string(i));
    const std::clock_t start = std::clock();  // the CPU's, so that other processes do not count
    for (int i = 0; i < 20; ++i) served.cache.forget_below(folders);
    return std::clock() - start;
  };
  const auto one = time_to_forget(1);
  CHECK(time_to_forget(1000) < 100 * (one + 1));
  CHECK(served.cache.names().size() == 2000);
}
