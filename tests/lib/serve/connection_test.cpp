#include "serve/connection.h"

#include <fcntl.h>
#include <sys/socket.h>

#include <filesystem>
#include <thread>

#include "base/clock.h"
#include "net/connect.h"
#include "net/listen.h"
#include "net/socket_io.h"
#include "serve/options.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace {

// A client, and the server's end of its connection.
struct Pair {
  explicit Pair(std::int64_t idle_timeout_ms = 60'000, std::int64_t min_rate = 0) {
    const auto listener = net::listen_on({"127.0.0.1", 0}, serve::io_slice_ms(idle_timeout_ms));
    auto connected = net::connect_to(net::resolve(listener->address)->front(), 60'000);
    client = std::move(*connected);
    auto accepted = net::accept_from(listener->fd.get());
    connection.emplace(std::move(accepted.fd), accepted.peer, idle_timeout_ms, is_draining,
                       min_rate);
  }

  std::string received() const {
    std::string all;
    std::array<char, 4096> buffer;
    for (ssize_t got = 0; (got = net::receive(client.get(), buffer)) > 0;) {
      all.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return all;
  }

  std::atomic<bool> is_draining = false;
  net::Fd client;
  std::optional<serve::Connection> connection;
};

}  // namespace

TEST_CASE("a half-closed client gets all replies, and its last line without LF is ignored",
          "[serve]") {
  Pair pair;
  REQUIRE(net::send_all(pair.client.get(), "one\ntwo\nthree"));
  ::shutdown(pair.client.get(), SHUT_WR);
  CHECK(pair.connection->next_line() == "one");
  pair.connection->reply_ok();
  CHECK(pair.connection->next_line() == "two");
  pair.connection->reply_error(base::ErrorCode::kDenied, "no");
  CHECK_FALSE(pair.connection->next_line());
  pair.connection.reset();
  CHECK(pair.received() == "OK\nERR denied no\n");
}

TEST_CASE("a line that is too long is answered and ends the conversation", "[serve]") {
  Pair pair;
  REQUIRE(net::send_all(pair.client.get(), "one\n" + std::string(600, 'x')));
  ::shutdown(pair.client.get(), SHUT_WR);
  CHECK(pair.connection->next_line() == "one");
  pair.connection->reply_ok();
  CHECK_FALSE(pair.connection->next_line());
  CHECK_FALSE(pair.connection->next_line());
  pair.connection.reset();
  CHECK(pair.received().starts_with("OK\nERR too-long "));
}

TEST_CASE("a reply with bytes follows the queued replies", "[serve]") {
  Pair pair;
  REQUIRE(net::send_all(pair.client.get(), "get\nfile\n"));
  ::shutdown(pair.client.get(), SHUT_WR);
  while (pair.connection->next_line()) {
    const std::string body = "body";
    pair.connection->reply_with(body);
  }
  pair.connection.reset();
  CHECK(pair.received() == "OK 4\nbodyOK 4\nbody");
}

TEST_CASE("a range of a file follows the queued replies", "[serve]") {
  const tests::TemporaryFolder folder;
  folder.write("file", "0123456789");
  const net::Fd file(::open(folder.path("file").c_str(), O_RDONLY | O_CLOEXEC));
  Pair pair;
  pair.connection->reply_ok();
  pair.connection->reply_with(net::FilePart{file.get(), 2, 5});
  CHECK(pair.connection->sized_reply().is_whole);
  CHECK(pair.connection->sized_reply().sent_bytes == 5);
  pair.connection.reset();
  CHECK(pair.received() == "OK\nOK 5\n23456");
}

TEST_CASE("a file that is shorter than its range ends the conversation", "[serve]") {
  const tests::TemporaryFolder folder;
  folder.write("file", "0123456789");
  const net::Fd file(::open(folder.path("file").c_str(), O_RDONLY | O_CLOEXEC));
  Pair pair;
  pair.connection->reply_with(net::FilePart{file.get(), 7, 5});
  CHECK_FALSE(pair.connection->sized_reply().is_whole);
  CHECK_FALSE(pair.connection->next_line());
  pair.connection.reset();
  CHECK(pair.received() == "OK 5\n789");
}

TEST_CASE("a peer that takes no byte of a file is disconnected after the idle time-out",
          "[serve]") {
  const tests::TemporaryFolder folder;
  folder.write("file", "");
  std::filesystem::resize_file(folder.path("file"), 1 << 30);
  const net::Fd file(::open(folder.path("file").c_str(), O_RDONLY | O_CLOEXEC));
  Pair pair(50);
  pair.connection->reply_with(net::FilePart{file.get(), 0, 1 << 30});
  CHECK_FALSE(pair.connection->sized_reply().is_whole);
  CHECK_FALSE(pair.connection->next_line());
}

TEST_CASE("a peer that takes a file too slowly is disconnected, though it takes some all the time",
          "[serve]") {
  constexpr std::int64_t kMinRate = 1'000'000'000'000;
  const tests::TemporaryFolder folder;
  folder.write("file", "");
  std::filesystem::resize_file(folder.path("file"), 1 << 30);
  const net::Fd file(::open(folder.path("file").c_str(), O_RDONLY | O_CLOEXEC));
  Pair pair(100, kMinRate);
  std::thread slow([&] {
    std::array<char, 4096> buffer;
    while (net::receive(pair.client.get(), buffer) > 0) base::pause_ms(1);
  });
  pair.connection->reply_with(net::FilePart{file.get(), 0, 1 << 30});
  CHECK_FALSE(pair.connection->sized_reply().is_whole);
  CHECK_FALSE(pair.connection->next_line());
  pair.connection.reset();
  slow.join();
}

TEST_CASE("a silent peer is disconnected after the idle time-out", "[serve]") {
  Pair pair(40);
  CHECK_FALSE(pair.connection->next_line());
  pair.connection.reset();
  CHECK(pair.received().empty());
}

TEST_CASE("a peer that never completes a line is disconnected after the idle time-out", "[serve]") {
  Pair pair(100);
  std::atomic<bool> is_left = false;
  std::thread trickle([&] {
    while (!is_left && net::send_all(pair.client.get(), "x")) base::pause_ms(5);
  });
  CHECK_FALSE(pair.connection->next_line());
  is_left = true;
  trickle.join();
}

TEST_CASE("a peer that takes no byte of a reply is disconnected after the idle time-out",
          "[serve]") {
  Pair pair(100);
  REQUIRE(net::send_all(pair.client.get(), "file\n"));
  REQUIRE(pair.connection->next_line());
  const std::string body(64 << 20, 'x');
  pair.connection->reply_with(body);
  CHECK_FALSE(pair.connection->next_line());
}

TEST_CASE("draining ends a conversation before the lines that wait", "[serve]") {
  Pair pair;
  REQUIRE(net::send_all(pair.client.get(), "one\ntwo\n"));
  CHECK(pair.connection->next_line() == "one");
  pair.connection->reply_ok();
  pair.is_draining = true;
  CHECK_FALSE(pair.connection->next_line());
  pair.connection.reset();
  CHECK(pair.received() == "OK\n");
}

TEST_CASE("a peer that is gone ends the conversation", "[serve]") {
  Pair pair;
  REQUIRE(net::send_all(pair.client.get(), "one\n"));
  REQUIRE(pair.connection->next_line());
  pair.client = net::Fd();
  const std::string body(64 << 20, 'x');
  pair.connection->reply_with(body);
  CHECK_FALSE(pair.connection->next_line());
}

TEST_CASE("a sized reply says how far it has come, and when", "[serve]") {
  Pair pair;
  pair.connection->keep_times();
  REQUIRE(net::send_all(pair.client.get(), "file\n"));
  REQUIRE(pair.connection->next_line());
  const std::int64_t before_ns = base::now_ns();
  pair.connection->begin_sized_reply(6);
  CHECK(pair.connection->sized_reply().first_byte_ns == 0);
  pair.connection->send(std::string_view("abc"));
  CHECK(pair.connection->sized_reply().sent_bytes == 3);
  CHECK_FALSE(pair.connection->sized_reply().is_whole);
  const serve::SizedReply half = pair.connection->sized_reply();
  pair.connection->send(std::string_view("def"));
  const serve::SizedReply whole = pair.connection->sized_reply();
  CHECK(whole.is_whole);
  CHECK(whole.size_bytes == 6);
  CHECK(whole.sent_bytes == 6);
  CHECK(before_ns <= whole.first_byte_ns);
  CHECK(whole.first_byte_ns == half.first_byte_ns);
  CHECK(half.first_byte_ns <= half.last_byte_ns);
  CHECK(half.last_byte_ns < whole.last_byte_ns);
}

TEST_CASE("replies that were queued before a sized reply are no part of it", "[serve]") {
  Pair pair;
  REQUIRE(net::send_all(pair.client.get(), "get\nfile\n"));
  REQUIRE(pair.connection->next_line());
  pair.connection->reply_ok();
  REQUIRE(pair.connection->next_line());
  pair.connection->reply_with(std::string_view("body"));
  CHECK(pair.connection->sized_reply().sent_bytes == 4);
  CHECK(pair.connection->sized_reply().is_whole);
  CHECK(pair.connection->sized_reply().first_byte_ns == 0);  // nobody asked for times
}

TEST_CASE("an empty file is whole once its header was sent, and not before", "[serve]") {
  Pair pair;
  REQUIRE(net::send_all(pair.client.get(), "file\n"));
  REQUIRE(pair.connection->next_line());
  pair.connection->begin_sized_reply(0);
  CHECK_FALSE(pair.connection->sized_reply().is_whole);
  pair.connection->send({});
  CHECK(pair.connection->sized_reply().is_whole);
}

TEST_CASE("a sized reply whose peer is gone is not whole", "[serve]") {
  Pair pair;
  REQUIRE(net::send_all(pair.client.get(), "one\n"));
  REQUIRE(pair.connection->next_line());
  pair.client = net::Fd();
  const std::string body(64 << 20, 'x');
  pair.connection->reply_with(body);
  CHECK_FALSE(pair.connection->sized_reply().is_whole);
  CHECK(pair.connection->sized_reply().sent_bytes < body.size());
}
