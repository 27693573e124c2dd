#include "fileserver/files/opened_file.h"

#include <fcntl.h>
#include <unistd.h>

#include <string>
#include <vector>

#include "base/clock.h"
#include "fileserver/files/disk_files.h"
#include "tests/catch.h"
#include "tests/lib/serve/stream_pair.h"
#include "tests/own_waits.h"
#include "tests/temporary_folder.h"

using namespace fileserver;

namespace {

constexpr std::string_view kHead = "head ";

std::string file_pattern(std::size_t size) {
  std::string bytes(size, '\0');
  for (std::size_t i = 0; i < size; ++i) bytes[i] = static_cast<char>('a' + i * 7 % 23);
  return bytes;
}

// The file on disk.
base::Result<OpenedFile> open_on_disk(const std::shared_ptr<const Fence>& fence,
                                      std::string_view name) {
  return DiskFiles(fence).open(name);
}

// The file in memory.
OpenedFile load(const Fence& fence, std::string_view name, std::size_t size, SendableMemory& memory,
                MemoryBudget& budget) {
  DirectIo direct_io;
  for (;;) {
    auto file =
        read_whole_file(fence, name, *budget.take(memory_for(static_cast<std::int64_t>(size))),
                        {direct_io, memory, {kPieceBytes, [] { return true; }}});
    if (file) {
      const FileVersion version = file->version;
      return {.name = name,
              .version = version,
              .cached = std::make_shared<const CachedFile>(std::move(*file))};
    }
    REQUIRE(file.error().code == base::ErrorCode::kUnavailable);
    base::pause_ms(5);
  }
}

std::shared_ptr<const Fence> fence_of(const tests::TemporaryFolder& folder) {
  return std::make_shared<const Fence>(std::move(*Fence::around(folder.path())));
}

}  // namespace

TEST_CASE("a file is closed elsewhere if that takes long, or if its blocks are freed", "[files]") {
  const tests::TemporaryFolder folder;
  folder.write("file", "bytes");
  const std::string path = folder.path() + "/file";
  const auto opened = [&](bool closes_at_once) {
    return DiskFd(net::Fd(::open(path.c_str(), O_RDONLY | O_CLOEXEC)), closes_at_once);
  };
  tests::OwnWaits waits;
  { const DiskFd fd = opened(true); }
  CHECK(waits.left() == 0);
  { const DiskFd fd = opened(false); }
  CHECK(waits.left() == 1);
  {
    const DiskFd fd = opened(true);
    ::unlink(path.c_str());
  }
  CHECK(waits.left() == 2);
}

TEST_CASE("any range of a file is sent behind its head, from memory and from disk", "[files]") {
  const tests::TemporaryFolder folder;
  const auto fence = fence_of(folder);
  MemoryBudget budget(1 << 30);
  SendableMemory memory;
  for (const std::size_t size : {0U, 1U, 1000U, 16384U, 150'000U}) {
    const std::string content = file_pattern(size);
    folder.write("file", content);
    const OpenedFile in_memory = load(*fence, "file", size, memory, budget);
    const auto on_disk = open_on_disk(fence, "file");
    REQUIRE(on_disk);
    const std::vector<FileRange> ranges{
        {0, size}, {0, size / 2}, {size / 3, size / 2}, {size - size / 4, size / 4}};
    for (const auto* file : {&in_memory, &*on_disk}) {
      for (const FileRange& range : ranges) {
        CAPTURE(size, range.begin, range.size_bytes, file == &in_memory);
        tests::StreamPair pair;
        pair.stream->begin_sized_reply(range.size_bytes);
        send(*pair.stream, kHead, *file, range);
        CHECK(pair.stream->sized_reply().is_whole);
        pair.stream.reset();
        CHECK(pair.received() ==
              std::string(kHead) + content.substr(range.begin, range.size_bytes));
      }
    }
  }
}

TEST_CASE("a range of a file on disk that has changed is not sent whole, wherever it changed",
          "[files]") {
  const tests::TemporaryFolder folder;
  const auto fence = fence_of(folder);
  folder.write("file", file_pattern(200'000));
  const auto file = open_on_disk(fence, "file");
  REQUIRE(file);
  folder.write("file", file_pattern(200'000) + "more");
  for (const FileRange range : {FileRange{0, 100'000}, FileRange{100'000, 10}}) {
    tests::StreamPair pair;
    pair.stream->begin_sized_reply(range.size_bytes);
    send(*pair.stream, kHead, *file, range);
    CHECK(pair.stream->is_over());
    CHECK_FALSE(pair.stream->sized_reply().is_whole);
  }
}

TEST_CASE("a file on disk that was not settled when it was opened is not sent whole", "[files]") {
  const tests::TemporaryFolder folder;
  const auto fence = fence_of(folder);
  folder.write("file", file_pattern(100));
  auto file = open_on_disk(fence, "file");
  REQUIRE(file);
  file->was_settled = false;  // what came between may have left the times as they are
  tests::StreamPair pair;
  pair.stream->begin_sized_reply(100);
  send(*pair.stream, kHead, *file, {0, 100});
  CHECK(pair.stream->is_over());
  CHECK_FALSE(pair.stream->sized_reply().is_whole);
}

TEST_CASE("a file stays what it was when a newer version replaces it in memory", "[files]") {
  const tests::TemporaryFolder folder;
  const auto fence = fence_of(folder);
  MemoryBudget budget(1 << 30);
  SendableMemory memory;
  folder.write("file", "old");
  const OpenedFile old = load(*fence, "file", 3, memory, budget);
  folder.write("file", "newer");
  tests::StreamPair pair;
  pair.stream->begin_sized_reply(3);
  send(*pair.stream, {}, old, {0, 3});
  pair.stream.reset();
  CHECK(pair.received() == "old");
}
