#include "fileserver/files/folder_trail.h"

#include <fcntl.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>

#include "tests/catch.h"
#include "tests/fileserver/files/no_descriptors.h"
#include "tests/temporary_folder.h"

using fileserver::FolderTrail;

namespace {

namespace fs = std::filesystem;

struct TrailScene {
  explicit TrailScene(const std::string& below) {
    fs::create_directories(folder.path("top/" + below));
    REQUIRE(trail.begin(open("top")));
  }
  net::Fd open(const std::string& name) const {
    return net::Fd(::open(folder.path(name).c_str(), O_PATH | O_DIRECTORY | O_CLOEXEC));
  }
  bool is_at(const std::string& name) const {
    return fs::equivalent("/proc/self/fd/" + std::to_string(trail.fd()), folder.path(name));
  }

  tests::TemporaryFolder folder;
  FolderTrail trail;
};

}  // namespace

TEST_CASE("a trail leads down and up again with one descriptor more", "[folder-trail]") {
  TrailScene scene("a/b");
  const tests::OneDescriptor one;
  CHECK(scene.trail.depth() == 0);
  REQUIRE(scene.trail.go_down("a"));
  REQUIRE(scene.trail.go_down("b"));
  CHECK(scene.trail.depth() == 2);
  REQUIRE(scene.trail.go_up());
  REQUIRE(scene.trail.go_up());
  CHECK(scene.trail.depth() == 0);
  REQUIRE(scene.trail.go_down("a"));
  CHECK(::faccessat(scene.trail.fd(), "b", F_OK, 0) == 0);
}

TEST_CASE("a trail stays where it is when there is no way on", "[folder-trail]") {
  TrailScene scene("a/b");
  fs::create_directory_symlink("a", scene.folder.path("top/link"));
  CHECK_FALSE(scene.trail.go_down("link"));
  CHECK(errno == ENOTDIR);
  CHECK_FALSE(scene.trail.go_down("missing"));
  CHECK(errno == ENOENT);
  CHECK(scene.is_at("top"));
  REQUIRE(scene.trail.go_down("a"));
  {
    const tests::NoDescriptors none;
    CHECK_FALSE(scene.trail.go_down("b"));
    CHECK_FALSE(scene.trail.go_up());
    CHECK(errno == EMFILE);
  }
  CHECK(scene.is_at("top/a"));
  CHECK(scene.trail.depth() == 1);
}

TEST_CASE("a trail does not go up to where it did not come from", "[folder-trail]") {
  TrailScene scene("a/b");
  fs::create_directories(scene.folder.path("elsewhere"));
  REQUIRE(scene.trail.go_down("a"));
  REQUIRE(scene.trail.go_down("b"));
  fs::rename(scene.folder.path("top/a/b"), scene.folder.path("elsewhere/b"));
  CHECK_FALSE(scene.trail.go_up());
  CHECK(errno == EBUSY);
  CHECK(scene.is_at("elsewhere/b"));
}
