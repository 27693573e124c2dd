// What the cache counts as memory, and its limit.
#include <malloc.h>

#include <filesystem>
#include <string>
#include <vector>

#include "base/clock.h"
#include "tests/catch.h"
#include "tests/fileserver/files/served_cache.h"

using fileserver::FileCache;
using Source = FileCache::Source;
using State = FileCache::State;
using tests::kCachePieceBytes;
using tests::Served;
namespace fs = std::filesystem;

TEST_CASE("the limit holds while a file is replaced, though a request sends the old version",
          "[files]") {
  constexpr std::int64_t kLimit = 8000;
  Served served(kLimit);
  served.folder.write("a", std::string(5000, '1'));
  served.load("a");
  auto held = served.cache.find("a");
  CHECK(held->source == Source::kMemory);

  served.folder.write("a", std::string(5000, '2'));
  while (served.cache.check("a") == State::kUnsettled) base::pause_ms(5);
  const auto load_once = [&] {
    return served.cache.load("a", {kCachePieceBytes, [] { return true; }});
  };
  CHECK(load_once() == State::kUnsettled);
  CHECK(load_once() == State::kUnsettled);
  CHECK(served.cache.used_bytes() <= kLimit);
  CHECK(served.known("a") == "on disk");

  held.reset();
  CHECK(served.load("a") == State::kCurrent);
  CHECK(served.known("a") == std::string(5000, '2'));
  served.folder.write("a", std::string(5000, '3'));
  served.load("a");
  CHECK(served.known("a") == std::string(5000, '3'));
}

TEST_CASE("files without bytes count too, and those that do not fit stay unknown", "[files]") {
  constexpr std::int64_t kLimit = 10'000;
  constexpr int kFiles = 100;
  Served served(kLimit);
  for (int i = 0; i < kFiles; ++i) {
    const std::string name = std::to_string(i);
    served.folder.write(name, "");
    served.load(name);
  }
  CHECK(served.cache.used_bytes() <= kLimit);
  CHECK_FALSE(served.cache.has_room_for("another"));
  const auto known = served.cache.names();
  CHECK(known.size() > 10);
  CHECK(known.size() < kFiles);
  fs::remove(served.folder.path(known[0]));
  served.cache.check(known[0]);
  CHECK(served.cache.has_room_for(known[0]));
}

TEST_CASE("the bookkeeping of a file takes no more memory than it counts", "[files]") {
  Served served;
  std::vector<std::string> names;
  for (int i = 0; i < 2000; ++i) names.push_back("a name that is not short, " + std::to_string(i));
  for (const auto& name : names) served.folder.write(name, "");
  served.load(names.back());
  const std::size_t heap_before = ::mallinfo2().uordblks;
  const std::int64_t counted_before = served.cache.used_bytes();
  for (const auto& name : names) served.load(name);
  const auto heap = static_cast<std::int64_t>(::mallinfo2().uordblks - heap_before);
  CHECK(heap <= served.cache.used_bytes() - counted_before);
}
