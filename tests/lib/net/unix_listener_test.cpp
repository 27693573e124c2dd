#include "net/unix_listener.h"

#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <cerrno>
#include <string>

#include "net/connect.h"
#include "net/listen.h"
#include "net/socket_io.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace {

bool exists(const std::string& path) {
  struct stat status {};
  return ::lstat(path.c_str(), &status) == 0;
}

base::Result<net::Listener> listen_on(const std::string& path, std::int64_t io_slice_ms = 0) {
  return net::listen_on({"unix:" + path, 0}, io_slice_ms);
}

base::Result<net::Fd> connect_to(const std::string& path) {
  return net::connect_to(net::SocketAddress(path), 60'000);
}

// A socket file that a killed process has left.
void abandon(const std::string& path) {
  const net::Fd fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0));
  const net::SocketAddress address(path);
  REQUIRE(::bind(fd.get(), address.get(), address.size()) == 0);
}

}  // namespace

TEST_CASE("a Unix-domain socket takes connections, and its file ends with it", "[net]") {
  const tests::TemporaryFolder folder;
  const std::string path = folder.path() + "/s";
  {
    const auto listener = listen_on(path);
    REQUIRE(listener);
    const auto client = connect_to(path);
    REQUIRE(client);
    const auto accepted = net::accept_from(listener->fd.get());
    REQUIRE(accepted.verdict == net::AcceptVerdict::kAccepted);
    CHECK(accepted.peer == net::IpAddress());
    REQUIRE(net::send_all(client->get(), "x"));
    std::array<char, 1> byte{};
    CHECK(net::receive(accepted.fd.get(), byte) == 1);
    CHECK(net::peer_of(client->get()) == net::SocketAddress(path));
  }
  CHECK_FALSE(exists(path));
}

TEST_CASE("only the owner and the group may connect to a Unix-domain socket", "[net]") {
  const tests::TemporaryFolder folder;
  const std::string path = folder.path() + "/s";
  const auto listener = listen_on(path);
  struct stat status {};
  REQUIRE(::lstat(path.c_str(), &status) == 0);
  CHECK((status.st_mode & 0777U) == 0660U);
}

TEST_CASE("accepted Unix-domain sockets have the listener's time slice", "[net]") {
  const tests::TemporaryFolder folder;
  const std::string path = folder.path() + "/s";
  const auto listener = listen_on(path, 10);
  const auto client = connect_to(path);
  const auto accepted = net::accept_from(listener->fd.get());
  REQUIRE(accepted.verdict == net::AcceptVerdict::kAccepted);
  std::array<char, 1> byte{};
  CHECK(net::receive(accepted.fd.get(), byte) == -1);
  CHECK(errno == EAGAIN);
}

TEST_CASE("a socket file that nobody listens on is replaced, any other is not", "[net]") {
  const tests::TemporaryFolder folder;
  const std::string path = folder.path() + "/s";
  SECTION("abandoned") {
    abandon(path);
    const auto listener = listen_on(path);
    REQUIRE(listener);
    CHECK(connect_to(path).ok());
  }
  SECTION("in use") {
    const auto first = listen_on(path);
    REQUIRE(first);
    const auto second = listen_on(path);
    REQUIRE_FALSE(second);
    CHECK(second.error().context.find("Address already in use") != std::string::npos);
    CHECK(connect_to(path).ok());
  }
  SECTION("bound, and not yet accepting") {
    const auto first = net::bind_to({"unix:" + path, 0}, 0);
    REQUIRE(first);
    CHECK_FALSE(net::bind_to({"unix:" + path, 0}, 0).ok());
    CHECK(exists(path));
  }
  SECTION("a file") {
    folder.write("s", "x");
    CHECK_FALSE(listen_on(path).ok());
    CHECK(exists(path));
  }
}

TEST_CASE("a socket file of somebody else is not removed", "[net]") {
  const tests::TemporaryFolder folder;
  const std::string path = folder.path() + "/s";
  {
    const auto listener = listen_on(path);
    REQUIRE(::rename(path.c_str(), (path + ".old").c_str()) == 0);
    abandon(path);
  }
  CHECK(exists(path));
}

TEST_CASE("a forked child does not remove the socket file", "[net]") {
  const tests::TemporaryFolder folder;
  const std::string path = folder.path() + "/s";
  auto listener = listen_on(path);
  REQUIRE(listener);
  const pid_t child = ::fork();
  if (child == 0) {
    { const net::SocketFile dropped = std::move(listener->file); }
    ::_exit(0);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, 0) == child);
  CHECK(exists(path));
}

TEST_CASE("connecting to a Unix-domain socket that is not there fails at once", "[net]") {
  const tests::TemporaryFolder folder;
  const std::string path = folder.path() + "/s";
  const auto missing = connect_to(path);
  REQUIRE_FALSE(missing);
  CHECK(missing.error().code == base::ErrorCode::kUnavailable);
  abandon(path);
  CHECK_FALSE(connect_to(path).ok());
}
