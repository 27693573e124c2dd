#include "fileserver/files/cached_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <atomic>
#include <memory>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "tests/catch.h"
#include "tests/own_waits.h"
#include "tests/temporary_folder.h"

using namespace fileserver;

namespace {

std::string pattern(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>('a' + i * 7 % 23);
  return bytes;
}

std::string cached_bytes(const CachedFile& file) {
  if (file.region.is_empty()) return {file.bytes().begin(), file.bytes().end()};
  const net::FilePart part = file.region.part(file.version.size_bytes);
  std::string content(part.size_bytes, '\0');
  REQUIRE(::pread(part.fd, content.data(), content.size(), part.offset) ==
          static_cast<ssize_t>(content.size()));
  return content;
}

SendableMemory& memory() {
  static SendableMemory memory;
  return memory;
}

// Reads until the file has settled: one that was written just now is refused.
base::Result<CachedFile> read(
    const Fence& fence, const std::string& name, MemoryBudget& budget, std::int64_t size,
    const std::function<bool()>& may_go_on = [] { return true; }) {
  DirectIo direct_io;
  for (;;) {
    auto file = read_whole_file(fence, name, std::move(*budget.take(memory_for(size))),
                                {direct_io, memory(), {kPieceBytes, may_go_on}});
    if (file || file.error().code != base::ErrorCode::kUnavailable) return file;
    base::pause_ms(5);
  }
}

// A file of this size, whose bytes nobody has read.
CachedFile of_size(std::int64_t size_bytes, MemoryBudget& budget) {
  auto share = std::make_shared<const MemoryShare>(std::move(*budget.take(size_bytes)));
  return {.version = {.size_bytes = size_bytes},
          .share = std::move(share),
          .data = nullptr,
          .region = {}};
}

}  // namespace

TEST_CASE("whoever owns many connections leaves a large file to others to free", "[files]") {
  constexpr std::int64_t kMiB = 1 << 20;
  MemoryBudget budget(64 * kMiB);
  auto small = shared(of_size(kMiB, budget));
  auto large = shared(of_size(32 * kMiB, budget));
  {
    tests::OwnWaits waits;
    small = nullptr;
    CHECK(waits.left() == 0);
    large = nullptr;
    CHECK(waits.left() == 1);
    CHECK_FALSE(budget.take(33 * kMiB).has_value());
  }
  CHECK(budget.take(64 * kMiB).has_value());
}

TEST_CASE("files of any size are read whole", "[files]") {
  const tests::TemporaryFolder folder;
  MemoryBudget budget(1 << 30);
  for (const std::size_t size :
       {0U, 1U, 511U, 512U, 4095U, 4096U, 4097U, 16383U, 16384U, 16385U, 1'000'000U, 3U << 20}) {
    CAPTURE(size);
    folder.write("file", pattern(size));
    const auto fence = Fence::around(folder.path());
    const auto file = read(*fence, "file", budget, static_cast<std::int64_t>(size));
    REQUIRE(file);
    CHECK(cached_bytes(*file) == pattern(size));
    CHECK(file->region.is_empty() == (size < 16 * 1024));
  }
}

TEST_CASE("a file holds its share of the budget as long as it lives", "[files]") {
  const tests::TemporaryFolder folder;
  folder.write("file", pattern(5000));
  MemoryBudget budget(1 << 20);
  const auto fence = Fence::around(folder.path());
  {
    const auto file = read(*fence, "file", budget, 5000);
    REQUIRE(file);
    CHECK(budget.used_bytes() == 5000);
  }
  CHECK(budget.used_bytes() == 0);
}

TEST_CASE("a budget refuses what is over its limit", "[files]") {
  MemoryBudget budget(100);
  const auto first = budget.take(60);
  REQUIRE(first);
  CHECK_FALSE(budget.take(41));
  CHECK(budget.used_bytes() == 60);
  CHECK(budget.has_room_for(40));
  CHECK_FALSE(budget.has_room_for(41));
  CHECK(budget.take(40));
}

TEST_CASE("a share that is refused keeps no other thread from a share that fits", "[files]") {
  MemoryBudget budget(100);
  std::atomic<bool> is_done = false;
  std::thread refused([&] {
    while (!is_done) (void)budget.take(1000);
  });
  int failures = 0;
  for (int i = 0; i < 300'000; ++i) failures += budget.take(6) ? 0 : 1;
  is_done = true;
  refused.join();
  CHECK(failures == 0);
}

TEST_CASE("a file that was written just now is not read yet", "[files]") {
  const tests::TemporaryFolder folder;
  MemoryBudget budget(1 << 20);
  DirectIo direct_io;
  const auto fence = Fence::around(folder.path());
  // On a slow machine the file may settle before it is read. Then try again.
  for (;;) {
    folder.write("file", "x");
    const bool was_settled = is_settled(fence->open_file("file", Fence::Links::kRefused)->version);
    const auto file = read_whole_file(*fence, "file", std::move(*budget.take(1)),
                                      {direct_io, memory(), {kPieceBytes, [] { return true; }}});
    if (was_settled || file) continue;
    CHECK(file.error().code == base::ErrorCode::kUnavailable);
    break;
  }
}

TEST_CASE("reading a large file can be ended between two pieces", "[files]") {
  constexpr int kPieces = 3;
  constexpr std::int64_t kSize = kPieces * kPieceBytes;
  const tests::TemporaryFolder folder;
  folder.write("file", "");
  std::filesystem::resize_file(folder.path("file"), kSize);
  const auto fence = Fence::around(folder.path());
  MemoryBudget budget(kSize);
  int asked = 0;
  CHECK(read(*fence, "file", budget, kSize, [&] { return ++asked < kPieces; }));
  CHECK(asked == kPieces - 1);

  asked = 0;
  DirectIo direct_io;
  const ReadOptions options{direct_io, memory(), {kPieceBytes, [&] { return ++asked < 2; }}};
  const auto ended = read_whole_file(*fence, "file", std::move(*budget.take(kSize)), options);
  REQUIRE_FALSE(ended);
  CHECK(ended.error().code == base::ErrorCode::kUnavailable);
  CHECK(asked == 2);
  CHECK(budget.used_bytes() == 0);
}
