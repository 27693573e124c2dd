#include "fileserver/http/folder_entries.h"

#include <fmt/core.h>

#include <algorithm>
#include <filesystem>
#include <string>
#include <utility>
#include <vector>

#include "tests/catch.h"
#include "tests/environment_variable.h"
#include "tests/temporary_folder.h"

using fileserver::Fence;
using fileserver::FolderEntries;
using fileserver::kLargeBatchBytes;
using fileserver::kSmallBatchBytes;
using fileserver::ListedEntry;
using fileserver::MemoryBudget;

namespace {

Fence fence_around(const tests::TemporaryFolder& folder) {
  return std::move(*Fence::around(folder.path()));
}

// As many files as take `bytes` in a batch, all with names of the same length.
int files_for(std::size_t bytes) {
  const ListedEntry entry{.name = "f0000"};
  return static_cast<int>(bytes / fileserver::memory_of(entry));
}

std::vector<std::string> make_files(const tests::TemporaryFolder& folder, int count) {
  std::vector<std::string> names;
  for (int i = 0; i < count; ++i) {
    names.push_back(fmt::format("f{:04}", i));
    folder.write(names.back(), "");
  }
  return names;
}

struct Read {
  std::vector<std::string> names;
  int batches = 0;
};

Read read_all(FolderEntries& entries) {
  Read read;
  for (auto batch = entries.next(); batch && !batch->empty(); batch = entries.next()) {
    for (const ListedEntry& entry : *batch) read.names.push_back(entry.name);
    ++read.batches;
  }
  return read;
}

}  // namespace

TEST_CASE("names are sorted by their bytes, folders among files", "[listing]") {
  const tests::TemporaryFolder folder;
  for (const char* name : {"b", "a/x", "\xc3\xa4", "B", ".a", "a.txt"}) folder.write(name, "");
  const Fence fence = fence_around(folder);
  MemoryBudget budget(0);
  FolderEntries entries(fence, "", budget, {});
  const std::vector<std::string> sorted{".a", "B", "a", "a.txt", "b", "\xc3\xa4"};
  CHECK(read_all(entries).names == sorted);
}

TEST_CASE("a folder that does not fit into one batch comes in several", "[listing]") {
  const int fitting = files_for(kSmallBatchBytes);
  for (const auto& [count, batches] :
       {std::pair{fitting - 1, 1}, {fitting, 1}, {fitting + 1, 2}, {2 * fitting + 1, 3}}) {
    CAPTURE(count);
    const tests::TemporaryFolder folder;
    const auto names = make_files(folder, count);
    const Fence fence = fence_around(folder);
    MemoryBudget budget(kLargeBatchBytes - 1);
    FolderEntries entries(fence, "", budget, {});
    const Read read = read_all(entries);
    CHECK(read.names == names);
    CHECK(read.batches == batches);
  }
}

TEST_CASE("a large folder is one batch if the budget has room, until its end", "[listing]") {
  const tests::TemporaryFolder folder;
  const auto names = make_files(folder, 2 * files_for(kSmallBatchBytes));
  const Fence fence = fence_around(folder);
  MemoryBudget budget(kLargeBatchBytes);
  {
    FolderEntries entries(fence, "", budget, {});
    const auto batch = entries.next();
    CHECK(batch->size() == names.size());
    CHECK(budget.used_bytes() == kLargeBatchBytes);
    FolderEntries others(fence, "", budget, {});
    CHECK(others.next()->size() < names.size());
    CHECK(entries.next()->empty());
  }
  CHECK(budget.used_bytes() == 0);
}

tests::TemporaryFolder folder_in_memory() {
  if (!std::filesystem::is_directory("/dev/shm")) return tests::TemporaryFolder();
  const tests::EnvironmentVariable temporary("TMPDIR", "/dev/shm");
  return tests::TemporaryFolder();
}

// A long name that is dropped leaves room for a shorter one behind it. A gap needs such a name to
// be read last, and a rest of memory that has room for it but not for a long one. A file system in
// memory tells names in the order in which they were made, or against it. Each name in front
// changes the rest.
TEST_CASE("long names among short ones leave no gap", "[listing]") {
  const tests::TemporaryFolder folder = folder_in_memory();
  std::vector<std::string> names;
  const auto add = [&](const std::string& name) {
    names.push_back(name);
    folder.write(name, "");
  };
  add("h1");
  for (int i = 0; i < 300; ++i) add(fmt::format("g{:03}{}", i, std::string(200, 'x')));
  add("h2");
  std::ranges::sort(names);
  for (int i = 0; i < 6; ++i) {
    const Fence fence = fence_around(folder);
    MemoryBudget budget(0);
    FolderEntries entries(fence, "", budget, {});
    CHECK(read_all(entries).names == names);
    add(fmt::format("f{}", i));
    std::ranges::sort(names);
  }
}

TEST_CASE("a folder that is gone or another one by the next batch is an error", "[listing]") {
  const tests::TemporaryFolder folder;
  folder.write("sub/x", "");
  const int count = 2 * files_for(kSmallBatchBytes);
  for (int i = 0; i < count; ++i) folder.write(fmt::format("sub/f{:04}", i), "");
  const Fence fence = fence_around(folder);
  MemoryBudget budget(0);
  FolderEntries entries(fence, "sub", budget, {});
  REQUIRE(entries.next().ok());
  std::filesystem::rename(folder.path("sub"), folder.path("away"));
  CHECK_FALSE(entries.next().ok());
  folder.write("sub/z", "");
  CHECK_FALSE(entries.next().ok());
}
