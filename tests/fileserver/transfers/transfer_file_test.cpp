#include "fileserver/transfers/transfer_file.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <fstream>
#include <iterator>

#include "tests/catch.h"
#include "tests/temporary_folder.h"

using fileserver::TransferFile;

namespace {

std::string content_of(const std::string& path) {
  std::ifstream file(path, std::ios::binary);
  return {std::istreambuf_iterator<char>(file), {}};
}

// A served folder, and another one beside it.
struct Folders {
  Folders() {
    std::filesystem::create_directories(scratch.path("files/deep"));
    std::filesystem::create_directory(scratch.path("logs"));
  }

  TransferFile file(const std::string& name) const {
    return TransferFile(scratch.path(name), scratch.path("files"));
  }

  tests::TemporaryFolder scratch;
};

// Files may not grow over this size meanwhile.
class FileSizeLimit {
 public:
  explicit FileSizeLimit(rlim_t bytes) : old_handler_(::signal(SIGXFSZ, SIG_IGN)) {
    ::getrlimit(RLIMIT_FSIZE, &old_);
    rlimit limit = old_;
    limit.rlim_cur = bytes;
    ::setrlimit(RLIMIT_FSIZE, &limit);
  }
  ~FileSizeLimit() {
    ::setrlimit(RLIMIT_FSIZE, &old_);
    ::signal(SIGXFSZ, old_handler_);
  }

 private:
  rlimit old_{};
  sighandler_t old_handler_;
};

}  // namespace

TEST_CASE("lines are appended, and others may not read them", "[transfers]") {
  const Folders folders;
  folders.scratch.write("logs/t", "old\n");
  TransferFile old = folders.file("logs/t");
  REQUIRE(old.open());
  CHECK(old.append("new\n") == 4);
  CHECK(content_of(folders.scratch.path("logs/t")) == "old\nnew\n");
  REQUIRE(folders.file("logs/made").open());
  struct stat status {};
  REQUIRE(::stat(folders.scratch.path("logs/made").c_str(), &status) == 0);
  CHECK((status.st_mode & 0137) == 0);
}

TEST_CASE("a file that was renamed is written to until it is opened again", "[transfers]") {
  const Folders folders;
  TransferFile file = folders.file("logs/t");
  REQUIRE(file.open());
  std::filesystem::rename(folders.scratch.path("logs/t"), folders.scratch.path("logs/t.1"));
  file.append("one\n");
  REQUIRE(file.open());
  file.append("two\n");
  CHECK(content_of(folders.scratch.path("logs/t.1")) == "one\n");
  CHECK(content_of(folders.scratch.path("logs/t")) == "two\n");
}

TEST_CASE("a file stays open if opening it again fails", "[transfers]") {
  const Folders folders;
  TransferFile file = folders.file("logs/t");
  REQUIRE(file.open());
  std::filesystem::rename(folders.scratch.path("logs"), folders.scratch.path("gone"));
  CHECK_FALSE(file.open());
  CHECK(file.append("one\n") == 4);
  CHECK(content_of(folders.scratch.path("gone/t")) == "one\n");
}

TEST_CASE("a line that a killed process left unfinished does not spoil the next one",
          "[transfers]") {
  const Folders folders;
  folders.scratch.write("logs/t", "one\ntw");
  TransferFile file = folders.file("logs/t");
  REQUIRE(file.open());
  file.append("three\n");
  CHECK(content_of(folders.scratch.path("logs/t")) == "one\ntw\nthree\n");
}

TEST_CASE("a disk without room for all lines gets whole ones", "[transfers]") {
  const Folders folders;
  TransferFile file = folders.file("logs/t");
  REQUIRE(file.open());
  {
    const FileSizeLimit limit(10);
    CHECK(file.append("one\ntwo\nthree\n") == 8);
    CHECK(errno == EFBIG);
    CHECK(file.append("three\n") == 0);
    CHECK(errno == EFBIG);
  }
  CHECK(file.append("three\n") == 6);
  CHECK(content_of(folders.scratch.path("logs/t")) == "one\ntwo\nthree\n");
}

TEST_CASE("a file in the served folder is refused, and not left there", "[transfers]") {
  const Folders folders;
  const auto& scratch = folders.scratch;
  std::filesystem::create_directory_symlink(scratch.path("files/deep"), scratch.path("link"));
  std::filesystem::create_symlink(scratch.path("files/linked"), scratch.path("logs/link"));
  for (const char* name : {"files/t", "files/deep/t", "logs/../files/t", "link/t"}) {
    CAPTURE(name);
    const auto opened = folders.file(name).open();
    REQUIRE_FALSE(opened);
    CHECK(opened.error().context.find("served folder") != std::string::npos);
    CHECK_FALSE(std::filesystem::exists(scratch.path(name)));
  }
  CHECK_FALSE(folders.file("logs/link").open());
  scratch.write("files/there", "kept");
  CHECK_FALSE(folders.file("files/there").open());
  CHECK(content_of(scratch.path("files/there")) == "kept");
}

TEST_CASE("what cannot be opened is an error", "[transfers]") {
  const Folders folders;
  CHECK_FALSE(folders.file("logs").open());
  CHECK_FALSE(folders.file("missing/t").open());
  REQUIRE(::mkfifo(folders.scratch.path("logs/fifo").c_str(), 0600) == 0);
  CHECK_FALSE(folders.file("logs/fifo").open());  // it has no reader
}

TEST_CASE("a FIFO whose reader is slow takes a part of the lines", "[transfers]") {
  const Folders folders;
  const std::string path = folders.scratch.path("logs/fifo");
  REQUIRE(::mkfifo(path.c_str(), 0600) == 0);
  const net::Fd reader(::open(path.c_str(), O_RDONLY | O_NONBLOCK | O_CLOEXEC));
  TransferFile file = folders.file("logs/fifo");
  REQUIRE(file.open());
  const std::string lines(4 << 20, '\n');
  CHECK(file.append(lines) < lines.size());
  CHECK(errno == EAGAIN);
}
