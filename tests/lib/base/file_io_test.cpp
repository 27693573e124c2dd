#include "base/file_io.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/stat.h>
#include <unistd.h>

#include <array>
#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include "net/fd.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace {

net::Fd open_file(const std::string& path, int flags) {
  return net::Fd(::open(path.c_str(), flags | O_CLOEXEC, 0600));
}

}  // namespace

TEST_CASE("an interrupted call is repeated, a failed one is not", "[base]") {
  int calls = 0;
  const auto interrupted_twice = [&] {
    errno = EINTR;
    return ++calls < 3 ? -1 : 7;
  };
  CHECK(base::retried(interrupted_twice) == 7);
  CHECK(calls == 3);
  const auto failing = [&] {
    ++calls;
    errno = EIO;
    return -1;
  };
  CHECK(base::retried(failing) == -1);
  CHECK(calls == 4);
}

TEST_CASE("read_fully_at reads what is there, up to the room there is", "[base]") {
  const tests::TemporaryFolder folder;
  folder.write("file", "abcdef");
  const net::Fd file = open_file(folder.path("file"), O_RDONLY);
  std::array<char, 4> room{};
  CHECK(base::read_fully_at(file.get(), room, 1) == 4);
  CHECK(std::string_view(room.data(), 4) == "bcde");
  CHECK(base::read_fully_at(file.get(), room, 4) == 2);
  CHECK(base::read_fully_at(file.get(), room, 6) == 0);
  CHECK(base::read_fully_at(-1, room, 0) == -1);
}

TEST_CASE("read_at does not move the file's position", "[base]") {
  const tests::TemporaryFolder folder;
  folder.write("file", "abcdef");
  const net::Fd file = open_file(folder.path("file"), O_RDONLY);
  std::array<char, 2> room{};
  CHECK(base::read_at(file.get(), room, 3) == 2);
  CHECK(std::string_view(room.data(), 2) == "de");
  CHECK(base::read_at(file.get(), room, 6) == 0);
  CHECK(::read(file.get(), room.data(), room.size()) == 2);
  CHECK(std::string_view(room.data(), 2) == "ab");
}

TEST_CASE("write_all writes everything, or says that it did not", "[base]") {
  const tests::TemporaryFolder folder;
  const std::string path = folder.path("file");
  CHECK(base::write_all(open_file(path, O_WRONLY | O_CREAT).get(), "all of it"));
  std::ostringstream content;
  content << std::ifstream(path).rdbuf();
  CHECK(content.str() == "all of it");
  CHECK_FALSE(base::write_all(open_file("/dev/full", O_WRONLY).get(), "no room"));
  CHECK(errno == ENOSPC);
}

TEST_CASE("the mode of a file is told if every user may read it", "[base]") {
  const tests::TemporaryFolder folder;
  folder.write("file", "secret");
  const std::string path = folder.path("file");
  const auto told = [&path](mode_t mode) {
    REQUIRE(::chmod(path.c_str(), mode) == 0);
    return base::mode_open_to_others(path).value_or("");
  };
  CHECK(told(0600).empty());
  CHECK(told(0640).empty());
  CHECK(told(0602).empty());
  CHECK(told(0604) == "0604");
  CHECK(told(04755) == "4755");
  CHECK_FALSE(base::mode_open_to_others(folder.path("none")));
}

TEST_CASE("write_all does not take a part for all", "[base]") {
  const tests::TemporaryFolder folder;
  const net::Fd file = open_file(folder.path("file"), O_WRONLY | O_CREAT);
  const auto handler = ::signal(SIGXFSZ, SIG_IGN);
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_FSIZE, &before) == 0);
  const rlimit five_bytes{5, before.rlim_max};
  REQUIRE(::setrlimit(RLIMIT_FSIZE, &five_bytes) == 0);
  const bool is_written = base::write_all(file.get(), "all of it");
  ::setrlimit(RLIMIT_FSIZE, &before);
  ::signal(SIGXFSZ, handler);
  CHECK_FALSE(is_written);
  CHECK(std::filesystem::file_size(folder.path("file")) == 5);
}
