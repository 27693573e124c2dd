#include "fileserver/files/kept_permissions.h"

#include <endian.h>
#include <fcntl.h>
#include <grp.h>
#include <sys/stat.h>
#include <sys/xattr.h>
#include <unistd.h>

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "net/fd.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using fileserver::keep_permissions;

namespace {

// The ACL "user::rw-, user:7:r--, group::---, mask::r--, other::---", as the kernel has it.
std::string acl_bytes() {
  struct Entry {
    std::uint16_t tag;
    std::uint16_t rights;
    std::uint32_t id;
  };
  constexpr std::uint32_t kNobody = ~std::uint32_t{0};
  const Entry entries[] = {
      {1, 6, kNobody}, {2, 4, 7}, {4, 0, kNobody}, {16, 4, kNobody}, {32, 0, kNobody}};
  const std::uint32_t version = htole32(2);
  std::string bytes(reinterpret_cast<const char*>(&version), sizeof version);
  for (const Entry& entry : entries) {
    const Entry little{htole16(entry.tag), htole16(entry.rights), htole32(entry.id)};
    bytes.append(reinterpret_cast<const char*>(&little), sizeof little);
  }
  return bytes;
}

constexpr const char* kAcl = "system.posix_acl_access";

// An old file, and the new one.
struct PermissionsScene {
  explicit PermissionsScene(mode_t mode) {
    folder.write("old", "x");
    folder.write("new", "x");
    ::chmod(folder.path("old").c_str(), mode);
    folder_fd = net::Fd(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    fd = net::Fd(::open(folder.path("new").c_str(), O_RDWR | O_CLOEXEC));
  }

  bool keep() { return keep_permissions(fd.get(), folder_fd.get(), "old"); }
  bool set_on_old(const char* name, const std::string& value) {
    return ::setxattr(folder.path("old").c_str(), name, value.data(), value.size(), 0) == 0;
  }
  std::string of_new(const char* name) {
    std::string value(1000, '\0');
    const ssize_t size = ::fgetxattr(fd.get(), name, value.data(), value.size());
    value.resize(static_cast<std::size_t>(size < 0 ? 0 : size));
    return value;
  }
  struct stat status() {
    struct stat status {};
    ::fstat(fd.get(), &status);
    return status;
  }
  mode_t mode() { return status().st_mode & 07777; }

  tests::TemporaryFolder folder;
  net::Fd folder_fd;
  net::Fd fd;
};

constexpr uid_t kNobody = 65534;

// This process is another user for as long as an object lives.
struct AsNobody {
  explicit AsNobody(const std::vector<gid_t>& own_groups = {})
      : groups(static_cast<std::size_t>(::getgroups(0, nullptr))) {
    REQUIRE(::getgroups(static_cast<int>(groups.size()), groups.data()) >= 0);
    REQUIRE(::setgroups(own_groups.size(), own_groups.data()) == 0);
    REQUIRE(::setegid(kNobody) == 0);
    REQUIRE(::seteuid(kNobody) == 0);
  }
  ~AsNobody() {
    CHECK(::seteuid(0) == 0);
    CHECK(::setegid(0) == 0);
    CHECK(::setgroups(groups.size(), groups.data()) == 0);
  }
  std::vector<gid_t> groups;  // that root has besides
};

}  // namespace

TEST_CASE("a file that is replaced keeps its mode", "[uploads]") {
  for (const mode_t mode : {0600U, 0640U, 0755U, 0444U, 0000U}) {
    PermissionsScene scene(mode);
    CHECK(scene.keep());
    CHECK(scene.mode() == mode);
  }
}

TEST_CASE("the bits that let a program run as its owner are not kept", "[uploads]") {
  PermissionsScene scene(06755);
  CHECK(scene.keep());
  CHECK(scene.mode() == 0755);
}

TEST_CASE("nothing is to be kept of a file that is gone", "[uploads]") {
  PermissionsScene scene(0600);
  ::unlink(scene.folder.path("old").c_str());
  const mode_t before = scene.mode();
  CHECK(scene.keep());
  CHECK(scene.mode() == before);
}

TEST_CASE("user attributes are kept where the file system has them", "[uploads]") {
  PermissionsScene scene(0600);
  if (!scene.set_on_old("user.colour", "blue") || !scene.set_on_old("user.empty", "")) return;
  CHECK(scene.keep());
  CHECK(scene.of_new("user.colour") == "blue");
  CHECK(::fgetxattr(scene.fd.get(), "user.empty", nullptr, 0) == 0);
}

TEST_CASE("an ACL is kept, and none comes from elsewhere", "[uploads]") {
  PermissionsScene with(0600);
  if (!with.set_on_old(kAcl, acl_bytes())) return;
  CHECK(with.keep());
  CHECK(with.of_new(kAcl) == acl_bytes());
  CHECK(with.mode() == 0640);
  PermissionsScene without(0640);
  const std::string acl = acl_bytes();
  REQUIRE(::fsetxattr(without.fd.get(), kAcl, acl.data(), acl.size(), 0) == 0);
  CHECK(without.keep());
  CHECK(without.of_new(kAcl).empty());
  CHECK(without.mode() == 0640);
  if (!without.set_on_old("user.colour", "blue")) return;
  REQUIRE(::fsetxattr(without.fd.get(), kAcl, acl.data(), acl.size(), 0) == 0);
  CHECK(without.keep());
  CHECK(without.of_new(kAcl).empty());
}

TEST_CASE("root keeps owner and group", "[uploads]") {
  if (::geteuid() != 0) return;
  const gid_t own_group = ::getegid();
  for (const auto& [owner, group] :
       {std::pair<uid_t, gid_t>{1234, 27}, {1234, own_group}, {0, 27}}) {
    CAPTURE(owner, group);
    PermissionsScene scene(0640);
    REQUIRE(::chown(scene.folder.path("old").c_str(), owner, group) == 0);
    CHECK(scene.keep());
    CHECK(scene.status().st_uid == owner);
    CHECK(scene.status().st_gid == group);
    CHECK(scene.mode() == 0640);
  }
}

TEST_CASE("whoever may not keep the owner keeps the group if he is in it", "[uploads]") {
  if (::geteuid() != 0) return;
  constexpr gid_t kShared = 27;
  PermissionsScene scene(0660);
  REQUIRE(::chown(scene.folder.path("old").c_str(), 0, kShared) == 0);
  REQUIRE(::chmod(scene.folder.path().c_str(), 0755) == 0);
  REQUIRE(::fchown(scene.fd.get(), kNobody, kNobody) == 0);
  const AsNobody as_nobody({kShared});
  CHECK(scene.keep());
  CHECK(scene.status().st_uid == kNobody);
  CHECK(scene.status().st_gid == kShared);
  CHECK(scene.mode() == 0660);
}

TEST_CASE("whoever may not keep the owner gives nobody a right that he did not have", "[uploads]") {
  if (::geteuid() != 0) return;
  struct Row {
    mode_t old;
    mode_t kept;
  };
  // The file was root's, and is nobody's.
  for (const Row row : {Row{0600, 0200}, Row{0640, 0200}, Row{0644, 0644}, Row{0664, 0644}}) {
    PermissionsScene scene(row.old);
    REQUIRE(::chmod(scene.folder.path().c_str(), 0755) == 0);
    REQUIRE(::fchown(scene.fd.get(), kNobody, kNobody) == 0);
    const AsNobody as_nobody;
    CHECK(scene.keep());
    CHECK(scene.mode() == row.kept);
  }
}
