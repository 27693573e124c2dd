#include "fileserver/files/temporary_file.h"

#include <fcntl.h>
#include <sys/file.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <cstdint>
#include <filesystem>
#include <iterator>
#include <string>
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
  folder.write(".turnstile-trash/x/.turnstile-upload-3", "x");
  const net::Fd sending(::open(folder.path(".turnstile-upload-2").c_str(), O_RDWR | O_CLOEXEC));
  REQUIRE(::flock(sending.get(), LOCK_EX) == 0);
  const net::Fd fd(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  const TemporaryFile own = TemporaryFile::in(fd.get(), TemporaryFile::Kind::kNamed);
  fileserver::remove_left_uploads(folder.path());
  CHECK(fs::exists(folder.path("a")));
  CHECK_FALSE(fs::exists(folder.path("b/.turnstile-upload-1")));
  CHECK(fs::exists(folder.path(".turnstile-upload-2")));
  CHECK(fs::exists(folder.path(".turnstile-trash/x/.turnstile-upload-3")));
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 5);  // with that of `own`
}

TEST_CASE("what was left is found below more folders than there are descriptors", "[uploads]") {
  tests::TemporaryFolder folder;
  std::string deep;
  for (int i = 0; i < 200; ++i) deep += "a/";
  folder.write(deep + ".turnstile-upload-1", "x");
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_NOFILE, &before) == 0);
  const rlimit few{100, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &few) == 0);
  fileserver::remove_left_uploads(folder.path());
  REQUIRE(::setrlimit(RLIMIT_NOFILE, &before) == 0);
  CHECK_FALSE(fs::exists(folder.path(deep + ".turnstile-upload-1")));
}

TEST_CASE("a pipe with the name of an upload does not hold the start", "[uploads]") {
  tests::TemporaryFolder folder;
  REQUIRE(::mkfifo(folder.path(".turnstile-upload-1").c_str(), 0600) == 0);
  folder.write("a/.turnstile-upload-2", "x");
  fileserver::remove_left_uploads(folder.path());
  CHECK_FALSE(fs::exists(folder.path("a/.turnstile-upload-2")));
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
      third.drop_replaced();
      const int of_second = kind == TemporaryFile::Kind::kNamed ? 1 : 0;
      CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1 + of_second);
    }
    CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 1);
    CHECK(fs::file_size(folder.path("a")) == 0);
  }
}

TEST_CASE("a name is given back to what had it", "[uploads]") {
  for (const auto kind : {TemporaryFile::Kind::kUnnamed, TemporaryFile::Kind::kNamed}) {
    tests::TemporaryFolder folder;
    folder.write("a", "old");
    const net::Fd fd(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
    {
      TemporaryFile file = TemporaryFile::in(fd.get(), kind);
      REQUIRE(file.replace("a"));
      CHECK(fs::file_size(folder.path("a")) == 0);
      file.take_back("a");
      TemporaryFile second = TemporaryFile::in(fd.get(), kind);
      REQUIRE(second.create("b"));
      second.take_back("b");
      TemporaryFile third = TemporaryFile::in(fd.get(), kind);
      REQUIRE(third.create("c"));
      folder.write("d", "of somebody else");
      fs::rename(folder.path("d"), folder.path("c"));
      third.take_back("c");
    }
    CHECK(fs::file_size(folder.path("a")) == 3);
    CHECK(fs::exists(folder.path("c")));
    CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 2);
  }
}

TEST_CASE("a file that was just removed is replaced, a folder that was just made is not",
          "[uploads]") {
  tests::TemporaryFolder folder;
  fs::create_directory(folder.path("folder"));
  const net::Fd fd(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  {
    TemporaryFile file = TemporaryFile::in(fd.get(), TemporaryFile::Kind::kUnnamed);
    CHECK(file.replace("a"));
    TemporaryFile second = TemporaryFile::in(fd.get(), TemporaryFile::Kind::kUnnamed);
    CHECK_FALSE(second.replace("folder"));
    CHECK(errno == EISDIR);
  }
  CHECK(fs::is_directory(folder.path("folder")));
  CHECK(fs::is_regular_file(folder.path("a")));
  CHECK(std::distance(fs::directory_iterator(folder.path()), {}) == 2);
}

TEST_CASE("an announced length takes room as its bytes come", "[uploads]") {
  tests::TemporaryFolder folder;
  const net::Fd fd(::open(folder.path().c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC));
  TemporaryFile file = TemporaryFile::in(fd.get(), TemporaryFile::Kind::kUnnamed);
  const auto taken = [&] {
    struct stat status {};
    ::fstat(file.fd(), &status);
    return status.st_blocks * 512;
  };
  constexpr std::int64_t kMiB = 1 << 20;
  constexpr std::int64_t kSlack = kMiB;  // what the file system adds for itself
  const net::Fd probe(::openat(fd.get(), "probe", O_CREAT | O_RDWR | O_CLOEXEC, 0600));
  const bool can_reserve = ::fallocate(probe.get(), FALLOC_FL_KEEP_SIZE, 0, kMiB) == 0;
  REQUIRE(file.reserve(256 * kMiB));
  CHECK(taken() <= kSlack / 2);
  REQUIRE(file.write("x"));
  if (!can_reserve) return;
  CHECK(taken() >= kMiB);
  CHECK(taken() <= kMiB + kSlack);
  const std::string piece(kMiB, 'x');
  for (int i = 0; i < 65; ++i) REQUIRE(file.write(piece));
  CHECK(taken() >= 80 * kMiB);
  CHECK(taken() <= 2 * 66 * kMiB + kSlack);
}
