#include "guard/sandbox.h"

#include <fcntl.h>
#include <signal.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include <cstdlib>
#include <functional>
#include <string>

#include "guard/landlock.h"
#include "guard/user.h"
#include "net/connect.h"
#include "net/listen.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace {

using Attempt = std::function<bool()>;

// Whether the attempt succeeds in a child process. With `allowed`, the child is in a sandbox.
bool succeeds(const Attempt& attempt, const guard::Allowed* allowed) {
  const pid_t child = ::fork();
  if (child == 0) {
    if (allowed != nullptr) {
      guard::forbid_more_rights();
      if (!guard::restrict_to(*allowed)) ::_exit(2);
    }
    ::_exit(attempt() ? 0 : 1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  REQUIRE(WIFEXITED(status));
  REQUIRE(WEXITSTATUS(status) != 2);
  return WEXITSTATUS(status) == 0;
}

bool can_open(const std::string& path, int flags) {
  return net::Fd(::open(path.c_str(), flags | O_CLOEXEC, 0600)).is_open();
}

Attempt opening(const std::string& path, int flags) {
  return [path, flags] { return can_open(path, flags); };
}

Attempt connecting(const net::Listener& listener) {
  return [&] { return net::connect_to(net::resolve(listener.address)->front(), 60'000).ok(); };
}

bool can_execute() {
  const pid_t child = ::fork();
  if (child == 0) {
    ::execl("/bin/true", "true", nullptr);
    ::_exit(1);
  }
  int status = -1;
  ::waitpid(child, &status, 0);
  return status == 0;
}

// Nothing to test where the kernel has no Landlock, or a container forbids it.
bool has_sandbox(int at_least = 1) { return guard::landlock::version() >= at_least; }

// What the attempt needs, and what is taken away. Each attempt must succeed without the sandbox.
void check_is_taken(const Attempt& attempt, const guard::Allowed& allowed) {
  CHECK(succeeds(attempt, nullptr));
  CHECK_FALSE(succeeds(attempt, &allowed));
}

}  // namespace

TEST_CASE("a sandbox leaves only the files that it allows", "[guard]") {
  if (!has_sandbox()) return;
  const tests::TemporaryFolder folder;
  folder.write("served/sub/a", "content");
  folder.write("own/b", "content");
  folder.write("other", "content");
  guard::Allowed allowed;
  allowed.readable = {folder.path("served"), folder.path("missing")};
  allowed.writable = {folder.path("own")};

  CHECK(succeeds(opening(folder.path("served/sub/a"), O_RDONLY), &allowed));
  CHECK(succeeds(opening(folder.path("served"), O_RDONLY | O_DIRECTORY), &allowed));
  CHECK(succeeds(opening(folder.path("own/b"), O_RDWR | O_TRUNC), &allowed));
  CHECK(succeeds(opening(folder.path("own/new"), O_RDWR | O_CREAT), &allowed));
  CHECK(succeeds([&] { return ::unlink(folder.path("own/new").c_str()) == 0; }, &allowed));

  check_is_taken(opening("/etc/passwd", O_RDONLY), allowed);
  check_is_taken(opening("/proc/self/environ", O_RDONLY), allowed);
  check_is_taken(opening(folder.path("other"), O_RDONLY), allowed);
  check_is_taken(opening(folder.path("own") + "/../other", O_RDONLY), allowed);
  check_is_taken(opening(folder.path(), O_RDONLY | O_DIRECTORY), allowed);
  check_is_taken(opening(folder.path("served/sub/a"), O_WRONLY), allowed);
  check_is_taken(opening(folder.path("served/sub/a"), O_RDWR), allowed);
  CHECK_FALSE(succeeds(opening(folder.path("served/new"), O_WRONLY | O_CREAT), &allowed));
  CHECK_FALSE(
      succeeds([&] { return ::unlink(folder.path("served/sub/a").c_str()) == 0; }, &allowed));
  CHECK_FALSE(
      succeeds([&] { return ::mkdir(folder.path("own/sub").c_str(), 0700) == 0; }, &allowed));
}

TEST_CASE("an allowed folder stays allowed after it was renamed", "[guard]") {
  if (!has_sandbox()) return;
  const tests::TemporaryFolder folder;
  folder.write("served/a", "content");
  guard::Allowed allowed;
  allowed.readable = {folder.path("served")};
  const std::string before = folder.path("served");
  const std::string after = folder.path("renamed");
  const pid_t child = ::fork();
  if (child == 0) {
    guard::forbid_more_rights();
    const bool is_restricted = guard::restrict_to(allowed).ok();
    ::raise(SIGSTOP);
    ::_exit(is_restricted && can_open(after + "/a", O_RDONLY) ? 0 : 1);
  }
  int status = -1;
  REQUIRE(::waitpid(child, &status, WUNTRACED) == child);
  REQUIRE(WIFSTOPPED(status));
  CHECK(::rename(before.c_str(), after.c_str()) == 0);
  ::kill(child, SIGCONT);
  ::waitpid(child, &status, 0);
  CHECK(status == 0);
}

TEST_CASE("no program can be executed in a sandbox", "[guard]") {
  if (!has_sandbox()) return;
  guard::Allowed allowed;
  allowed.readable = {"/"};
  check_is_taken(can_execute, allowed);
}

TEST_CASE("a sandbox leaves only the servers that it allows", "[guard]") {
  if (!has_sandbox(4)) return;
  const auto wanted = net::listen_on({"127.0.0.1", 0}, 0);
  const auto other = net::listen_on({"127.0.0.1", 0}, 0);
  REQUIRE(wanted);
  REQUIRE(other);
  guard::Allowed allowed;
  allowed.connect_to("127.0.0.1", wanted->address.port);
  CHECK(succeeds(connecting(*wanted), &allowed));
  check_is_taken(connecting(*other), allowed);
  check_is_taken([] { return net::bind_to({"127.0.0.1", 0}, 0).ok(); }, allowed);
  CHECK(succeeds([&] { return net::accept_from(wanted->fd.get()).fd.is_open(); }, &allowed));
}

TEST_CASE("a process outside of the sandbox gets no signal from it", "[guard]") {
  if (!has_sandbox(6)) return;
  const pid_t outside = ::getpid();
  check_is_taken([outside] { return ::kill(outside, 0) == 0; }, {});
}

TEST_CASE("what a name look-up needs is allowed only where there is a name", "[guard]") {
  guard::Allowed number;
  number.connect_to("127.0.0.1", 9001);
  CHECK(number.readable.empty());
  CHECK(number.ports == std::vector<std::uint16_t>{9001});
  guard::Allowed name;
  name.connect_to("localhost", 9001);
  CHECK_FALSE(name.readable.empty());
  if (!has_sandbox()) return;
  CHECK(succeeds([] { return net::resolve({"localhost", 1}).ok(); }, &name));
}

TEST_CASE("a sandbox lets a server remove the file of its socket, and connect", "[guard]") {
  if (guard::landlock::version() < 0) return;
  const tests::TemporaryFolder folder;
  folder.write("mine", "x");
  const std::string path = folder.path() + "/mine";
  const Attempt removing = [&] { return ::unlink(path.c_str()) == 0; };
  guard::Allowed nothing;
  CHECK_FALSE(succeeds(removing, &nothing));
  guard::Allowed allowed;
  allowed.listen_on({"unix:" + path, 0});
  CHECK_FALSE(succeeds(opening(path, O_RDONLY), &allowed));
  CHECK_FALSE(succeeds(opening(path + "2", O_WRONLY | O_CREAT), &allowed));
  CHECK(succeeds(removing, &allowed));

  const std::string other = folder.path() + "/other";
  const auto listener = net::listen_on({"unix:" + other, 0}, 0);
  REQUIRE(listener);
  const Attempt connecting_to_it = [&] {
    return net::connect_to(net::SocketAddress(other), 60'000).ok();
  };
  CHECK(succeeds(connecting_to_it, &nothing));
}
