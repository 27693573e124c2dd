#include "loadgen/clients/reply_stream.h"

#include <sys/socket.h>

#include <string>
#include <thread>

#include "base/clock.h"
#include "loadgen/clients/reference.h"
#include "net/connect.h"
#include "net/fd.h"
#include "net/listen.h"
#include "net/socket_io.h"
#include "tests/catch.h"
#include "tests/temporary_folder.h"

using loadgen::Fault;
using loadgen::ReplyStream;

namespace {

// The server's end of a connection to a ReplyStream.
struct Connection {
  net::Fd server;
  net::Fd client;
  ReplyStream replies;

  explicit Connection(std::int64_t timeout_ms = 10'000, int family = AF_UNIX)
      : replies(timeout_ms) {
    if (family == AF_UNIX) {
      int ends[2];
      REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends) == 0);
      server = net::Fd(ends[0]);
      client = net::Fd(ends[1]);
    } else {
      const auto listener = net::listen_on({"127.0.0.1", 0}, 0);
      client = std::move(*net::connect_to(net::resolve(listener->address)->front(), timeout_ms));
      server = net::accept_from(listener->fd.get()).fd;
    }
    net::set_io_timeout(client.get(), timeout_ms);
    replies.begin_connection(client.get());
    replies.begin_request();
  }

  // From any thread, so nothing is checked here: what is not sent is not received either.
  bool says(std::string_view bytes) const { return net::send_all(server.get(), bytes); }

  // Returns why the line could not be received, or nothing.
  std::optional<loadgen::Cause> take_line(std::string_view line) {
    while (replies.pending().size() < line.size()) {
      if (const auto failure = replies.receive_more()) return failure;
    }
    CHECK(replies.pending().starts_with(line));
    replies.take(line.size());
    return {};
  }

  void closes() { const net::Fd closed = std::move(server); }
};

}  // namespace

TEST_CASE("a reply and its file come in one piece", "[loadgen]") {
  Connection connection;
  connection.says("OK 5\nhello");
  CHECK_FALSE(connection.take_line("OK 5\n"));
  CHECK_FALSE(connection.replies.read_file(5, nullptr, nullptr));
  CHECK(connection.replies.file_bytes() == 5);
  CHECK_FALSE(connection.replies.has_more());
}

TEST_CASE("replies may be cut anywhere", "[loadgen]") {
  const std::string all = "OK\r\nOK 3\nabc";
  for (std::size_t cut = 1; cut < all.size(); ++cut) {
    CAPTURE(cut);
    Connection connection;
    connection.says(all.substr(0, cut));
    std::thread later([&] { connection.says(all.substr(cut)); });
    CHECK_FALSE(connection.take_line("OK\r\n"));
    CHECK_FALSE(connection.take_line("OK 3\n"));
    CHECK_FALSE(connection.replies.read_file(3, nullptr, nullptr));
    later.join();
    CHECK(connection.replies.file_bytes() == 3);
  }
}

TEST_CASE("the first byte of a reply has its own time", "[loadgen]") {
  Connection connection;
  connection.says("OK\nO");
  CHECK_FALSE(connection.replies.receive_more());
  const std::int64_t first_ns = connection.replies.last_byte_ns();
  connection.says("K 0\n");
  CHECK_FALSE(connection.replies.receive_more());
  CHECK(connection.replies.last_byte_ns() > first_ns);
  CHECK(connection.replies.take(3) == first_ns);
  CHECK(connection.replies.take(5) == connection.replies.last_byte_ns());
  connection.says("OK\n");
  CHECK_FALSE(connection.replies.receive_more());
  CHECK(connection.replies.take(3) == connection.replies.last_byte_ns());
}

TEST_CASE("a file of many buffers is counted to the byte", "[loadgen]") {
  Connection connection;
  const std::string file(3'000'001, 'x');
  std::thread server([&] { connection.says("OK 3000001\n" + file); });
  CHECK_FALSE(connection.take_line("OK 3000001\n"));
  CHECK_FALSE(connection.replies.read_file(file.size(), nullptr, nullptr));
  server.join();
  CHECK(connection.replies.file_bytes() == file.size());
}

TEST_CASE("a connection that ends too early is closed", "[loadgen]") {
  for (const char* said : {"", "O", "OK 5\nhell"}) {
    CAPTURE(said);
    Connection connection;
    connection.says(said);
    connection.closes();
    const auto failure = connection.take_line("OK 5\n");
    CHECK((failure ? failure : connection.replies.read_file(5, nullptr, nullptr)) ==
          Fault::kClosed);
  }
}

TEST_CASE("silence ends with a time-out, and so does a trickle", "[loadgen]") {
  Connection silent(50);
  CHECK(silent.replies.receive_more() == Fault::kTimeout);

  // All of the file would come, in at least a second. The time-out of the socket must not end it,
  // because on a loaded machine the server may pause for longer than that.
  constexpr int kBytes = 1000;
  Connection trickling(50);
  net::set_io_timeout(trickling.client.get(), 60'000);
  trickling.says("OK 1000\n");
  CHECK_FALSE(trickling.take_line("OK 1000\n"));
  std::thread server([&] {
    for (int i = 0; i < kBytes && trickling.says("x"); ++i) base::pause_ms(1);
  });
  CHECK(trickling.replies.read_file(kBytes, nullptr, nullptr) == Fault::kTimeout);
  const net::Fd closed = std::move(trickling.client);
  ::shutdown(closed.get(), SHUT_RDWR);
  server.join();
}

TEST_CASE("bytes that nobody asked for are noticed", "[loadgen]") {
  Connection connection;
  connection.says("OK 3\nabcd");
  CHECK_FALSE(connection.take_line("OK 3\n"));
  CHECK_FALSE(connection.replies.read_file(3, nullptr, nullptr));
  CHECK(connection.replies.has_more());
}

TEST_CASE("a file is compared with its copy, to the last byte", "[loadgen]") {
  const tests::TemporaryFolder folder;
  folder.write("same", "abc");
  folder.write("other", "abx");
  folder.write("longer", "abcd");
  folder.write("shorter", "ab");
  loadgen::Reference reference(folder.path());
  for (const std::string name : {"same", "other", "longer", "shorter", "missing"}) {
    CAPTURE(name);
    Connection connection;
    connection.says("abc");
    reference.begin(name);
    CHECK_FALSE(connection.replies.read_file(3, &reference, nullptr));
    CHECK(reference.is_whole_and_equal() == (name == "same"));
  }
}

TEST_CASE("a file that nobody looks at is counted to the byte, and a reply follows it",
          "[loadgen]") {
  for (const int family : {AF_UNIX, AF_INET}) {
    for (const std::size_t size : {std::size_t{0}, std::size_t{5}, std::size_t{3'000'001}}) {
      CAPTURE(family, size);
      Connection connection(10'000, family);
      const std::string reply = "OK " + std::to_string(size) + "\n" + std::string(size, '\n');
      std::thread server([&] { connection.says(reply); });
      CHECK_FALSE(connection.take_line("OK " + std::to_string(size) + "\n"));
      CHECK_FALSE(connection.replies.skip_file(size));
      server.join();
      CHECK(connection.replies.file_bytes() == size);
      CHECK_FALSE(connection.replies.has_more());
      connection.replies.begin_request();
      connection.says("OK\n");
      CHECK_FALSE(connection.take_line("OK\n"));
    }
  }
}

TEST_CASE("a file that nobody looks at and that ends too early is noticed", "[loadgen]") {
  for (const int family : {AF_UNIX, AF_INET}) {
    Connection connection(10'000, family);
    constexpr std::size_t kSize = 100'000;
    std::thread server([&] {
      connection.says("OK 100000\n" + std::string(kSize - 1, 'x'));
      connection.closes();
    });
    CHECK_FALSE(connection.take_line("OK 100000\n"));
    CHECK(connection.replies.skip_file(kSize) == Fault::kClosed);
    CHECK(connection.replies.file_bytes() == kSize - 1);
    server.join();
  }
}

TEST_CASE("a file that nobody looks at has a time-out", "[loadgen]") {
  Connection silent(50);
  silent.says("OK 5\nhell");
  CHECK_FALSE(silent.take_line("OK 5\n"));
  CHECK(silent.replies.skip_file(5) == Fault::kTimeout);
}

TEST_CASE("bytes behind a file that nobody looks at are noticed", "[loadgen]") {
  for (const int family : {AF_UNIX, AF_INET}) {
    Connection connection(10'000, family);
    constexpr std::size_t kSize = 100'000;
    std::thread server([&] { connection.says("OK 100000\n" + std::string(kSize + 1, 'x')); });
    CHECK_FALSE(connection.take_line("OK 100000\n"));
    // All of them are here before the last ones are received.
    server.join();
    CHECK(net::wait_until_readable(connection.client.get(), base::Deadline::in_ms(10'000)));
    const auto failure = connection.replies.skip_file(kSize);
    CHECK((failure == Fault::kProtocol || (!failure && connection.replies.has_more())));
  }
}
