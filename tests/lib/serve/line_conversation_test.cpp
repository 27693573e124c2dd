#include "serve/line_conversation.h"

#include <sys/socket.h>

#include <string>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "tests/catch.h"
#include "tests/lib/serve/stream_pair.h"

namespace {

struct LinePair : tests::StreamPair {
  using StreamPair::StreamPair;
  serve::LineConversation connection{*stream};
};

}  // namespace

TEST_CASE("a half-closed client gets all replies, and its last line without LF is ignored",
          "[serve]") {
  LinePair pair;
  REQUIRE(net::send_all(pair.client.get(), "one\ntwo\nthree"));
  ::shutdown(pair.client.get(), SHUT_WR);
  CHECK(pair.connection.next_line() == "one");
  pair.connection.reply_ok();
  CHECK(pair.connection.next_line() == "two");
  pair.connection.reply_error(base::ErrorCode::kDenied, "no");
  CHECK_FALSE(pair.connection.next_line());
  pair.stream.reset();
  CHECK(pair.received() == "OK\nERR denied no\n");
}

TEST_CASE("a line that is too long is answered and ends the conversation", "[serve]") {
  LinePair pair;
  REQUIRE(net::send_all(pair.client.get(), "one\n" + std::string(600, 'x')));
  ::shutdown(pair.client.get(), SHUT_WR);
  CHECK(pair.connection.next_line() == "one");
  pair.connection.reply_ok();
  CHECK_FALSE(pair.connection.next_line());
  CHECK_FALSE(pair.connection.next_line());
  pair.stream.reset();
  CHECK(pair.received().starts_with("OK\nERR too-long "));
}

TEST_CASE("a reply with bytes follows the queued replies", "[serve]") {
  LinePair pair;
  REQUIRE(net::send_all(pair.client.get(), "get\nfile\n"));
  ::shutdown(pair.client.get(), SHUT_WR);
  while (pair.connection.next_line()) {
    const auto head = pair.connection.begin_sized_reply(4);
    pair.stream->send(head, std::string_view("body"));
  }
  pair.stream.reset();
  CHECK(pair.received() == "OK 4\nbodyOK 4\nbody");
}

TEST_CASE("a silent peer is disconnected after the idle time-out", "[serve]") {
  LinePair pair(40);
  CHECK_FALSE(pair.connection.next_line());
  pair.stream.reset();
  CHECK(pair.received().empty());
}

TEST_CASE("a peer that never completes a line is disconnected after the idle time-out", "[serve]") {
  LinePair pair(100);
  std::atomic<bool> is_left = false;
  std::thread trickle([&] {
    while (!is_left && net::send_all(pair.client.get(), "x")) base::pause_ms(5);
  });
  CHECK_FALSE(pair.connection.next_line());
  is_left = true;
  trickle.join();
}

TEST_CASE("draining ends a conversation before the lines that wait", "[serve]") {
  LinePair pair;
  REQUIRE(net::send_all(pair.client.get(), "one\ntwo\n"));
  CHECK(pair.connection.next_line() == "one");
  pair.connection.reply_ok();
  pair.is_draining = true;
  CHECK_FALSE(pair.connection.next_line());
  pair.stream.reset();
  CHECK(pair.received() == "OK\n");
}

TEST_CASE("replies that were queued before a sized reply are no part of it", "[serve]") {
  LinePair pair;
  REQUIRE(net::send_all(pair.client.get(), "get\nfile\n"));
  REQUIRE(pair.connection.next_line());
  pair.connection.reply_ok();
  REQUIRE(pair.connection.next_line());
  pair.stream->send(pair.connection.begin_sized_reply(4), std::string_view("body"));
  CHECK(pair.stream->sized_reply().sent_bytes == 4);
  CHECK(pair.stream->sized_reply().is_whole);
  CHECK(pair.stream->sized_reply().first_byte_ns == 0);  // nobody asked for times
}
