#include "fileserver/rights/lock_service.h"

#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <memory>
#include <string>
#include <utility>

#include "net/abstract_socket.h"
#include "net/socket_io.h"
#include "tests/catch.h"

using fileserver::Lock;
using fileserver::Locks;
using fileserver::LockService;

namespace {

Lock asked(std::string name, std::string user = "amy") {
  const std::int64_t now_ns = base::now_ns();
  return {.name = std::move(name),
          .scope = Lock::Scope::kShared,
          .user = std::move(user),
          .made_ns = now_ns,
          .ends_ns = now_ns + 600 * base::kNsPerS};
}

std::string token_of(Locks& locks, Lock lock) {
  const auto made = locks.add(std::move(lock));
  REQUIRE(std::holds_alternative<Lock>(made));
  return std::get<Lock>(made).token;
}

// To the service of this process; there may be others.
net::Fd connected() {
  for (const auto& name : net::abstract_listeners(fileserver::kLockServicePrefix)) {
    auto fd = net::connect_to_abstract(name);
    const auto peer = fd ? net::credentials_of_peer(fd->get()) : std::nullopt;
    if (peer && peer->pid == ::getpid()) return std::move(*fd);
  }
  FAIL("there is no service");
  return {};
}

std::string answer_to(std::string_view request) {
  const net::Fd fd = connected();
  REQUIRE(net::send_all(fd.get(), request));
  ::shutdown(fd.get(), SHUT_WR);
  std::string text;
  std::array<char, 4096> piece{};
  for (ssize_t got = 0; (got = net::receive(fd.get(), piece)) > 0;)
    text.append(piece.data(), static_cast<std::size_t>(got));
  return text;
}

std::size_t lines_in(std::string_view text) {
  return static_cast<std::size_t>(std::ranges::count(text, '\n'));
}

}  // namespace

TEST_CASE("a lock is a line with its token, kind, depth, time left, user and path", "[locks]") {
  Lock lock = asked("plans/a b", "amy");
  lock.token = "urn:uuid:1";
  lock.is_folder = true;
  CHECK(line_of(lock, lock.made_ns) == "urn:uuid:1  shared     infinity   600 s  amy  /plans/a b/");
  lock.scope = Lock::Scope::kExclusive;
  lock.depth = Lock::Depth::kZero;
  lock.is_folder = false;
  lock.name = "a\nb\x1b";
  CHECK(line_of(lock, lock.ends_ns - 1) == "urn:uuid:1  exclusive  0            1 s  amy  /a?b?");
  lock.name = "";
  lock.is_folder = true;
  CHECK(line_of(lock, lock.ends_ns - 1).ends_with("  amy  /"));
}

TEST_CASE("the owner of the host lists all locks, and ends those of a token or a path", "[locks]") {
  Locks locks;
  const LockService service(fileserver::open_for_locks(), locks);
  CHECK(answer_to("list\n") == ".\n");
  constexpr std::size_t kMany = 200;  // more than are read at once
  for (std::size_t i = 0; i < kMany; ++i) token_of(locks, asked("many/" + std::to_string(i)));
  const std::string of_amy = token_of(locks, asked("a"));
  const std::string of_bob = token_of(locks, asked("a", "bob"));
  const std::string below = token_of(locks, asked("a/b"));
  const std::string all = answer_to("list\n");
  CHECK(lines_in(all) == kMany + 4);
  CHECK(all.ends_with("\n.\n"));
  for (const auto& token : {of_amy, of_bob, below}) CHECK(all.find(token) != std::string::npos);

  CHECK(answer_to("end urn:uuid:none\n") == ".\n");
  CHECK(answer_to("end /none\n") == ".\n");
  CHECK(lines_in(answer_to("end /a/\n")) == 3);
  CHECK(lines_in(answer_to("list\n")) == kMany + 2);
  const std::string ended = answer_to("end " + below + "\n");
  CHECK(lines_in(ended) == 2);
  CHECK(ended.starts_with(below));
  CHECK(lines_in(answer_to("list\n")) == kMany + 1);
}

TEST_CASE("what is no whole request ends no lock and keeps nobody from the next one", "[locks]") {
  Locks locks;
  const LockService service(fileserver::open_for_locks(), locks);
  token_of(locks, asked("a"));
  for (const std::string request : {"", "list", "list \n", "end\n", "/a\n", "end /a"})
    CHECK(answer_to(request).empty());
  {
    const net::Fd endless = connected();
    const std::string piece(1 << 10, '/');
    while (net::send_all(endless.get(), piece)) {
    }
  }
  CHECK(lines_in(answer_to("list\n")) == 2);
}

TEST_CASE("a service ends while somebody asks slowly", "[locks]") {
  Locks locks;
  auto service = std::make_unique<LockService>(fileserver::open_for_locks(), locks);
  const net::Fd slow = connected();
  REQUIRE(net::send_all(slow.get(), "li"));
  service.reset();
  std::array<char, 1> byte{};
  CHECK(net::receive(slow.get(), byte) <= 0);
}
