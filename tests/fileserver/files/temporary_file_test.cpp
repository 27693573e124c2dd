#include "fileserver/files/temporary_file.h"

#include <fcntl.h>
#include <sys/file.h>

#include <cerrno>
#include <filesystem>
#include <iterator>
#include <string_view>

#include "tests/catch.h"
#include "tests/temporary_folder.h"

using fileserver::TemporaryFile;

namespace fs = std::filesystem;

TEST_CASE("what earlier servers left is removed, what others are sending is not", "[uploads]") {
  tests::TemporaryFolder folder;
  folder.write("a", "x");
  folder.write("b/.turnstile-upload-1", "x");
  folder.write(".turnstile-upload-2", "x");
  const net::Fd sending(::open(folder.path(".turnstile-upload-2").c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(::flock(sending.get(), LOCK_EX) == 0);
  fileserver::remove_left_uploads(folder.path());
  CHECK(fs::exists(folder.path("a")));
  CHECK_FALSE(fs::exists(folder.path("b/.turnstile-upload-1")));
  CHECK(fs::exists(folder.path(".turnstile-upload-2")));
}

TEST_CASE("a file with a name from the start does the same as one without", "[uploads]") {
  for (const auto kind : {TemporaryFile::Kind::kUnnamed, TemporaryFile::Kind::kNamed}) {
    tests::TemporaryFolder folder;
    const net::Fd fd(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    {
      TemporaryFile file = TemporaryFile::in(fd.get(), kind);
      REQUIRE(file.is_open());
      CHECK(file.write(std::string_view("one")));
      CHECK(file.create("a"));
      TemporaryFile second = TemporaryFile::in(fd.get(), kind);
      CHECK_FALSE(second.create("a"));
      CHECK(errno == EEXIST);
      TemporaryFile third = TemporaryFile::in(fd.get(), kind);
      CHECK(third.replace("a"));
    }
    CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
    CHECK(fs::file_size(folder.path("a")) == 0);
  }
}
