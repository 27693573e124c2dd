#include "fileserver/files/file_version.h"

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

}  // namespace

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

TEST_CASE("a file that lost its last name was only removed", "[files]") {
  FileVersion removed = with<std::int64_t>(&FileVersion::changed_ns, 9);
  removed.links = 0;
  CHECK(was_only_removed(kVersion, removed));
  CHECK_FALSE(was_only_removed(removed, removed));
  removed.modified_ns = 9;
  CHECK_FALSE(was_only_removed(kVersion, removed));
}
