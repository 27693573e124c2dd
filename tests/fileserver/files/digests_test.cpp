#include "fileserver/files/digests.h"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include <atomic>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "fileserver/files/disk_files.h"
#include "fileserver/files/prefetched_files.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using namespace fileserver;
using base::ErrorCode;

namespace {

const auto kStaysWanted = [] { return true; };

base::Sha256Digest digest_of(std::string_view bytes) {
  base::Sha256 sha256;
  sha256.add(bytes);
  return sha256.finish();
}

std::shared_ptr<const Fence> fence_around(const tests::TemporaryFolder& folder) {
  return std::make_shared<const Fence>(std::move(*Fence::around(folder.path())));
}

OpenedFile settled(Files& files, std::string_view name) {
  for (;;) {
    auto file = files.open(name);
    REQUIRE(file);
    if (file->was_settled) return std::move(*file);
    base::pause_ms(5);
  }
}

// The digest, where there is one.
base::Sha256Digest known(Digests& digests, const OpenedFile& file,
                         const std::function<bool()>& may_go_on = kStaysWanted) {
  const auto digest = digests.of(file, may_go_on);
  REQUIRE(digest);
  return *digest;
}

bool is_unavailable(Digests& digests, const OpenedFile& file,
                    const std::function<bool()>& may_go_on = kStaysWanted) {
  const auto digest = digests.of(file, may_go_on);
  return !digest && digest.error().code == ErrorCode::kUnavailable;
}

}  // namespace

TEST_CASE("the digest of a file is that of all its bytes, from memory and from disk", "[digests]") {
  const tests::TemporaryFolder folder;
  const auto fence = fence_around(folder);
  // Those of 16 KiB and more are in memory that is sent without a copy; pieces are of 256 KiB.
  std::vector<std::string> contents;
  for (const std::size_t size :
       std::initializer_list<std::size_t>{0, 1, 16'383, 16'384, 262'144, 600'001}) {
    contents.emplace_back(size, 'x');
    if (size > 0) contents.back().back() = 'y';
    folder.write(fmt::format("file{}", contents.size()), contents.back());
  }
  base::pause_ms(kSettlingMs + 1);
  PrefetchedFiles prefetched(fence, {1 << 30}, kStaysWanted, {}, Updates::kNone);
  DiskFiles disk(fence);
  Digests of_memory;
  Digests of_disk;
  for (std::size_t i = 0; i < contents.size(); ++i) {
    CAPTURE(contents[i].size());
    const std::string name = fmt::format("file{}", i + 1);
    const OpenedFile in_memory = settled(prefetched, name);
    REQUIRE(in_memory.cached != nullptr);
    CHECK(known(of_memory, in_memory) == digest_of(contents[i]));
    CHECK(known(of_disk, settled(disk, name)) == digest_of(contents[i]));
  }
}

TEST_CASE("a digest is computed once for each version", "[digests]") {
  const tests::TemporaryFolder folder;
  const auto fence = fence_around(folder);
  DiskFiles disk(fence);
  Digests digests;
  int looks = 0;
  const auto count = [&] { return ++looks > 0; };
  folder.write("file", "old");
  CHECK(known(digests, settled(disk, "file"), count) == digest_of("old"));
  CHECK(looks == 1);  // one piece
  CHECK(known(digests, settled(disk, "file"), count) == digest_of("old"));
  CHECK(looks == 1);
  folder.write("file", "new");
  CHECK(known(digests, settled(disk, "file"), count) == digest_of("new"));
  CHECK(looks == 2);
}

TEST_CASE("the digest of a file in memory stays with it, however many others follow", "[digests]") {
  const tests::TemporaryFolder folder;
  const auto fence = fence_around(folder);
  folder.write("file", "content");
  base::pause_ms(kSettlingMs + 1);
  PrefetchedFiles prefetched(fence, {1 << 30}, kStaysWanted, {}, Updates::kNone);
  const OpenedFile file = settled(prefetched, "file");
  Digests digests;
  known(digests, file);
  Digests others;  // they know nothing of the first ones
  CHECK(known(others, file, [] { return false; }) == digest_of("content"));
}

TEST_CASE("versions that may still be alike are not taken for each other", "[digests]") {
  const tests::TemporaryFolder folder;
  const auto fence = fence_around(folder);
  folder.write("removed", "aaa");
  folder.write("new", "bbb");
  base::pause_ms(kSettlingMs + 1);
  PrefetchedFiles prefetched(fence, {1 << 30}, kStaysWanted, {}, Updates::kNone);
  OpenedFile removed = settled(prefetched, "removed");
  OpenedFile in_its_place = settled(prefetched, "new");
  removed.version.settling_ms = 3'600'000;  // the times of the file system are as coarse
  in_its_place.version = removed.version;
  Digests digests;
  CHECK(known(digests, removed) == digest_of("aaa"));
  CHECK(known(digests, in_its_place) == digest_of("bbb"));
}

TEST_CASE("a digest of a version that may still be that of others is not kept", "[digests]") {
  const tests::TemporaryFolder folder;
  const auto fence = fence_around(folder);
  folder.write("removed", "aaa");
  folder.write("new", "bbb");
  base::pause_ms(kSettlingMs + 1);
  PrefetchedFiles prefetched(fence, {1 << 30}, kStaysWanted, {}, Updates::kNone);
  OpenedFile removed = settled(prefetched, "removed");
  OpenedFile in_its_place = settled(prefetched, "new");
  in_its_place.version = removed.version;
  removed.version.settling_ms = 3'600'000;  // asked within a tick of the file system's clock
  Digests digests;
  CHECK(known(digests, removed) == digest_of("aaa"));
  CHECK(known(digests, in_its_place) == digest_of("bbb"));  // asked later
}

TEST_CASE("a file that changes while it is read has no digest", "[digests]") {
  const tests::TemporaryFolder folder;
  const auto fence = fence_around(folder);
  DiskFiles disk(fence);
  Digests digests;
  const std::string content(1'000'000, 'a');
  struct Change {
    bool grows;
    int at;  // at which of the four pieces
  };
  for (const Change& change : {Change{false, 2}, Change{true, 2}, Change{true, 4}}) {
    folder.write("file", content);
    const OpenedFile file = settled(disk, "file");
    int looks = 0;
    const auto change_it = [&] {
      if (++looks == change.at)
        folder.write("file", change.grows ? content + "b" : content.substr(1));
      return true;
    };
    CHECK(is_unavailable(digests, file, change_it));
    CHECK(looks == change.at);  // it is not read to its end
    CHECK(is_unavailable(digests, file, change_it));
    CHECK(looks == change.at);  // nor again by those who waited
    CHECK(known(digests, settled(disk, "file")) ==
          digest_of(change.grows ? content + "b" : content.substr(1)));
  }
}

TEST_CASE("a file that is replaced while it is read has the digest of what was opened",
          "[digests]") {
  const tests::TemporaryFolder folder;
  const auto fence = fence_around(folder);
  DiskFiles disk(fence);
  Digests digests;
  folder.write("file", "old");
  const OpenedFile old = settled(disk, "file");
  const auto replace_it = [&] {
    folder.write("other", "new");
    return ::rename((folder.path() + "/other").c_str(), (folder.path() + "/file").c_str()) == 0;
  };
  CHECK(known(digests, old, replace_it) == digest_of("old"));
  CHECK(known(digests, settled(disk, "file")) == digest_of("new"));
}

TEST_CASE("a file that was not settled when it was opened has no digest", "[digests]") {
  const tests::TemporaryFolder folder;
  const auto fence = fence_around(folder);
  DiskFiles disk(fence);
  folder.write("file", "content");
  OpenedFile file = settled(disk, "file");
  Digests digests;
  CHECK(known(digests, file) == digest_of("content"));
  file.was_settled = false;  // nor the one that was known
  CHECK(is_unavailable(digests, file));
}

TEST_CASE("threads that ask at once wait for one of them, and for the next one if it is ended",
          "[digests]") {
  const tests::TemporaryFolder folder;
  const auto fence = fence_around(folder);
  DiskFiles disk(fence);
  folder.write("file", "content");
  const OpenedFile of_first = settled(disk, "file");
  for (const bool first_goes_on : {true, false}) {
    CAPTURE(first_goes_on);
    Digests digests;
    constexpr int kOthers = 4;
    std::atomic<bool> is_first_there = false;
    std::atomic<bool> may_first_end = false;
    std::atomic<int> waiting = 0;
    std::atomic<int> finished = 0;
    std::atomic<int> right = 0;
    std::atomic<bool> has_first_digest = false;
    std::thread first([&] {
      has_first_digest = digests
                             .of(of_first,
                                 [&] {
                                   is_first_there = true;
                                   while (!may_first_end) base::pause_ms(1);
                                   return first_goes_on;
                                 })
                             .ok();
    });
    while (!is_first_there) base::pause_ms(1);
    std::vector<OpenedFile> of_others;
    for (int i = 0; i < kOthers; ++i) of_others.push_back(settled(disk, "file"));
    std::vector<std::thread> others;
    for (std::size_t i = 0; i < of_others.size(); ++i) {
      others.emplace_back([&, i] {
        bool has_waited = false;
        const auto digest = digests.of(of_others[i], [&] {
          if (!std::exchange(has_waited, true)) ++waiting;
          return true;
        });
        if (digest && *digest == digest_of("content")) ++right;
        ++finished;
      });
    }
    while (waiting + finished < kOthers) base::pause_ms(1);
    CHECK(finished == 0);
    may_first_end = true;
    first.join();
    for (std::thread& other : others) other.join();
    CHECK(has_first_digest == first_goes_on);
    CHECK(right == kOthers);
  }
}

TEST_CASE("only so many digests are computed at once, and others wait for a while", "[digests]") {
  const tests::TemporaryFolder folder;
  const auto fence = fence_around(folder);
  DiskFiles disk(fence);
  folder.write("first", "first");
  folder.write("second", "second");
  const OpenedFile first = settled(disk, "first");
  const OpenedFile second = settled(disk, "second");
  Digests digests({.at_once = 1, .wait_ms = 1});
  CHECK(known(digests, first, [&] { return is_unavailable(digests, second); }) ==
        digest_of("first"));
  CHECK(known(digests, second) == digest_of("second"));
  Digests more({.at_once = 2, .wait_ms = 1});
  CHECK(known(more, first, [&] { return known(more, second) == digest_of("second"); }) ==
        digest_of("first"));
}

TEST_CASE("who waits for the digest of the same version waits as long as that takes", "[digests]") {
  const tests::TemporaryFolder folder;
  const auto fence = fence_around(folder);
  DiskFiles disk(fence);
  folder.write("file", "content");
  const OpenedFile file = settled(disk, "file");
  const OpenedFile same = settled(disk, "file");
  Digests digests({.at_once = 4, .wait_ms = 1});
  std::atomic<int> looks = 0;
  std::atomic<bool> has_ended = false;
  std::atomic<bool> is_right = false;
  std::thread other;
  const auto until_other_has_waited = [&] {
    if (!other.joinable()) {
      other = std::thread([&] {
        const auto digest = digests.of(same, [&] { return ++looks > 0; });
        is_right = digest && *digest == digest_of("content");
        has_ended = true;
      });
    }
    while (looks < 2 && !has_ended) base::pause_ms(1);  // far longer than wait_ms
    return true;
  };
  CHECK(known(digests, file, until_other_has_waited) == digest_of("content"));
  other.join();
  CHECK(is_right);
}

TEST_CASE("who waits for a digest of somebody else may leave", "[digests]") {
  const tests::TemporaryFolder folder;
  const auto fence = fence_around(folder);
  DiskFiles disk(fence);
  Digests digests;
  folder.write("file", "content");
  const OpenedFile file = settled(disk, "file");
  const OpenedFile same = settled(disk, "file");
  const auto other_leaves = [&] { return is_unavailable(digests, same, [] { return false; }); };
  CHECK(known(digests, file, other_leaves) == digest_of("content"));
}

TEST_CASE("a table of digests tells versions apart, and keeps the last one of each place",
          "[digests]") {
  DigestTable table;
  const FileVersion version{.inode = 7, .size_bytes = 1, .modified_ns = 2, .changed_ns = 3};
  CHECK_FALSE(table.find(version));
  CHECK_FALSE(table.find({}));
  table.note(version, digest_of("a"));
  CHECK(table.find(version) == digest_of("a"));
  FileVersion other = version;
  other.changed_ns = 4;
  CHECK_FALSE(table.find(other));
  other = version;
  other.inode += DigestTable::kSlots;
  CHECK_FALSE(table.find(other));
  table.note(other, digest_of("b"));
  CHECK(table.find(other) == digest_of("b"));
  CHECK_FALSE(table.find(version));
}
