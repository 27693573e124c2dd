#include "fileserver/http/zip_entries.h"

#include <atomic>
#include <memory>
#include <string>

#include "fileserver/files/disk_files.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace {

// How many folders a zip takes until its names need too much memory.
int folders_until_too_many(fileserver::MemoryBudget& budget, std::int64_t most_bytes) {
  const tests::TemporaryFolder folder;
  auto fence = fileserver::Fence::around(folder.path());
  REQUIRE(fence);
  fileserver::DiskFiles files(std::make_shared<const fileserver::Fence>(std::move(*fence)));
  const std::atomic<bool> is_draining = false;
  serve::Stream stream(net::Fd(), {}, 1000, is_draining);
  stream.abort();  // nobody reads
  fileserver::UnsizedBody body(stream);
  fileserver::ZipEntries entries(files, budget, most_bytes, body);
  constexpr int kMost = 1'000'000;
  for (int number = 0; number < kMost; ++number) {
    const auto added = entries.add_folder(std::to_string(number) + "/", 0);
    if (!added) return number;
  }
  return kMost;
}

}  // namespace

TEST_CASE("a zip whose names need more than there is for all zips cannot go on", "[zip]") {
  fileserver::MemoryBudget budget(2 << 20);
  const int number = folders_until_too_many(budget, std::int64_t{64} << 20);
  CHECK(number > 20'000);
  CHECK(number < 60'000);
  CHECK(budget.used_bytes() == 0);  // it was given back
}

TEST_CASE("a single zip does not take all that there is for zips", "[zip]") {
  fileserver::MemoryBudget budget(std::int64_t{128} << 20);
  const int number = folders_until_too_many(budget, 1 << 20);
  CHECK(number > 10'000);
  CHECK(number < 30'000);
}
