#include "fileserver/files/file_version.h"

#include <fcntl.h>

#include "base/clock.h"
#include "net/fd.h"
#include "tests/catch.h"

using fileserver::FileVersion;
using fileserver::have_same_content;
using fileserver::was_only_removed;

namespace {

constexpr FileVersion kVersion{
    .device = 1, .inode = 2, .links = 1, .size_bytes = 3, .modified_ns = 4, .changed_ns = 5};

template <typename T>
FileVersion with(T FileVersion::*member, T value) {
  FileVersion other = kVersion;
  other.*member = value;
  return other;
}

// A file that changed so long ago, in whole seconds that are even, and that was read at `read_s`.
struct stat changed_before(int seconds, long changed_ns, long read_s, long read_ns) {
  struct stat status {};
  status.st_ctim.tv_sec = static_cast<long>(base::unix_time_s()) / 2 * 2 - seconds;
  status.st_mtim.tv_sec = status.st_ctim.tv_sec;
  status.st_ctim.tv_nsec = changed_ns;
  status.st_atim = {.tv_sec = read_s, .tv_nsec = read_ns};
  return status;
}

}  // namespace

TEST_CASE("a version settles as the times of its file system are fine", "[files]") {
  constexpr long kMidnight = 1'750'000'000 / 86'400 * 86'400 - 2 * 3600;
  using fileserver::kSettlingMs;
  using fileserver::version_in;
  CHECK(version_in(changed_before(0, 1, kMidnight, 0)).settling_ms == kSettlingMs);
  CHECK(version_in(changed_before(0, 0, kMidnight + 1, 0)).settling_ms == 1000 + kSettlingMs);
  CHECK(version_in(changed_before(0, 0, kMidnight, 1)).settling_ms == 1000 + kSettlingMs);
  CHECK(version_in(changed_before(1, 0, kMidnight, 0)).settling_ms == 1000 + kSettlingMs);
  CHECK(version_in(changed_before(0, 0, kMidnight, 0)).settling_ms == 2000 + kSettlingMs);
  struct stat odd = changed_before(0, 0, kMidnight, 0);
  odd.st_mtim.tv_sec += 1;
  CHECK(version_in(odd).settling_ms == 1000 + kSettlingMs);
}

TEST_CASE("a version is settled once no change can have its times", "[files]") {
  using fileserver::version_in;
  CHECK(is_settled(version_in(changed_before(4, 0, 1, 0))));
  CHECK(unsettled_ms(version_in(changed_before(4, 0, 1, 0))) == 0);
  const auto now = static_cast<std::int64_t>(base::unix_time_s() * 1e9);
  FileVersion fresh = with<std::int64_t>(&FileVersion::changed_ns, now);
  fresh.settling_ms = 100'000;
  CHECK_FALSE(is_settled(fresh));
  CHECK(unsettled_ms(fresh) > 1000);
  CHECK(unsettled_ms(fresh) <= 100'001);
  // The clock may have been put back since.
  CHECK(is_settled(with<std::int64_t>(&FileVersion::changed_ns, now + 3600 * base::kNsPerS)));
}

TEST_CASE("versions have the same content only if the kernel noted no change", "[files]") {
  CHECK(have_same_content(kVersion, kVersion));
  CHECK_FALSE(have_same_content(kVersion, with<dev_t>(&FileVersion::device, 9)));
  CHECK_FALSE(have_same_content(kVersion, with<ino_t>(&FileVersion::inode, 9)));
  CHECK_FALSE(have_same_content(kVersion, with<std::int64_t>(&FileVersion::size_bytes, 9)));
  CHECK_FALSE(have_same_content(kVersion, with<std::int64_t>(&FileVersion::modified_ns, 9)));
  CHECK_FALSE(have_same_content(kVersion, with<std::int64_t>(&FileVersion::changed_ns, 9)));
}

TEST_CASE("a new link does not excuse a change", "[files]") {
  FileVersion linked = with<std::int64_t>(&FileVersion::changed_ns, 9);
  linked.links = 2;
  CHECK_FALSE(have_same_content(kVersion, linked));
  CHECK_FALSE(was_only_removed(kVersion, linked));
}

TEST_CASE("the status of an open file is what fstat says", "[files]") {
  for (const char* const path : {"/proc/self/exe", "/dev/null", "/usr"}) {
    CAPTURE(path);
    const net::Fd fd(::open(path, O_RDONLY | O_CLOEXEC));
    struct stat expected {};
    REQUIRE(::fstat(fd.get(), &expected) == 0);
    struct stat status {};
    REQUIRE(fileserver::read_status(fd.get(), status));
    CHECK(status.st_dev == expected.st_dev);
    CHECK(status.st_ino == expected.st_ino);
    CHECK(status.st_mode == expected.st_mode);
    CHECK(status.st_nlink == expected.st_nlink);
    CHECK(status.st_uid == expected.st_uid);
    CHECK(status.st_gid == expected.st_gid);
    CHECK(status.st_rdev == expected.st_rdev);
    CHECK(status.st_size == expected.st_size);
    CHECK(status.st_blksize == expected.st_blksize);
    CHECK(status.st_blocks == expected.st_blocks);
    CHECK(status.st_mtim.tv_sec == expected.st_mtim.tv_sec);
    CHECK(status.st_mtim.tv_nsec == expected.st_mtim.tv_nsec);
    CHECK(status.st_ctim.tv_sec == expected.st_ctim.tv_sec);
    CHECK(status.st_ctim.tv_nsec == expected.st_ctim.tv_nsec);
    CHECK(status.st_atim.tv_nsec == expected.st_atim.tv_nsec);
  }
}

TEST_CASE("a file that lost its last name was only removed", "[files]") {
  FileVersion removed = with<std::int64_t>(&FileVersion::changed_ns, 9);
  removed.links = 0;
  CHECK(was_only_removed(kVersion, removed));
  CHECK_FALSE(was_only_removed(removed, removed));
  removed.modified_ns = 9;
  CHECK_FALSE(was_only_removed(kVersion, removed));
}
