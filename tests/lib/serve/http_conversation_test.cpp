#include "serve/http_conversation.h"

#include <sys/socket.h>

#include <array>
#include <string>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "tests/catch.h"
#include "tests/lib/serve/stream_pair.h"

namespace {

struct HttpPair : tests::StreamPair {
  using StreamPair::StreamPair;

  void say(std::string_view bytes) { REQUIRE(net::send_all(client.get(), bytes)); }
  void answer(http::Status status, std::string_view body) {
    std::array<char, 300> buffer;
    http::AnswerHead head = connection.begin_answer(buffer, status);
    head.field("Content-Length", body.size());
    connection.send(head.finish(), body);
  }
  std::string read_body() {
    std::string body;
    for (;;) {
      const auto piece = connection.next_body_piece();
      if (!piece) return "broken";
      if (piece->empty()) return body;
      body += *piece;
    }
  }
  // Answers every request with its path, after its body was read.
  void echo_all() {
    while (const auto* const head = connection.next_request()) {
      std::string text(head->path());
      text += read_body();
      answer(200, text);
    }
    stream.reset();
  }

  serve::HttpConversation connection{*stream};
};

std::size_t count(std::string_view text, std::string_view part) {
  std::size_t times = 0;
  for (std::size_t at = 0; (at = text.find(part, at)) != text.npos; ++at) ++times;
  return times;
}

}  // namespace

TEST_CASE("pipelined requests are answered in their order", "[serve]") {
  HttpPair pair;
  pair.say("GET /one HTTP/1.1\r\nHost: x\r\n\r\nGET /two HTTP/1.1\r\nHost: x\r\n\r\n");
  ::shutdown(pair.client.get(), SHUT_WR);
  pair.echo_all();
  const std::string got = pair.received();
  CHECK(count(got, "HTTP/1.1 200 OK\r\nDate: ") == 2);
  CHECK(got.find("/one") < got.find("/two"));
  CHECK(count(got, "Connection:") == 0);
}

TEST_CASE("bodies end where they say, and the next request follows", "[serve]") {
  HttpPair pair;
  pair.say(
      "POST /a HTTP/1.1\r\nHost: x\r\nContent-Length: 3\r\n\r\none"
      "POST /b HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
      "chunked\r\n\r\n3\r\ntwo\r\n2;x=y\r\n22\r\n0\r\n\r\n"
      "POST /d HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: "
      "chunked\r\n\r\n5\r\nthree\r\n0\r\n\r\n"
      "GET /c HTTP/1.1\r\nHost: x\r\n\r\n");
  ::shutdown(pair.client.get(), SHUT_WR);
  pair.echo_all();
  const std::string got = pair.received();
  CHECK(got.find("/aone") != got.npos);
  CHECK(got.find("/btwo22") != got.npos);
  CHECK(got.find("/dthree") != got.npos);
  CHECK(count(got, "HTTP/1.1 100 ") == 0);
  CHECK(got.ends_with("/c"));
}

TEST_CASE("a large body comes whole, and its memory is given back", "[serve]") {
  for (const bool is_chunked : {false, true}) {
    CAPTURE(is_chunked);
    HttpPair pair;
    const std::string body(1'000'000, 'b');
    std::thread client([&] {
      const std::string head = "POST / HTTP/1.1\r\nHost: x\r\n";
      if (is_chunked) {
        net::send_all(pair.client.get(), head + "Transfer-Encoding: chunked\r\n\r\nf4240\r\n" +
                                             body + "\r\n0\r\n\r\n");
      } else {
        net::send_all(pair.client.get(), head + "Content-Length: 1000000\r\n\r\n" + body);
      }
    });
    REQUIRE(pair.connection.next_request() != nullptr);
    const std::string got = pair.read_body();
    client.join();
    CHECK(got == body);
  }
}

TEST_CASE("who waits for 100 Continue gets it when the body is read, and only then", "[serve]") {
  HttpPair pair;
  pair.say("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 2\r\nExpect: 100-continue\r\n\r\n");
  REQUIRE(pair.connection.next_request() != nullptr);
  std::thread client([&] {
    std::array<char, 100> bytes;
    const ssize_t got = net::receive(pair.client.get(), bytes);
    if (std::string_view(bytes.data(), static_cast<std::size_t>(got)) == http::kContinue)
      net::send_all(pair.client.get(), "ok");
    ::shutdown(pair.client.get(), SHUT_WR);
  });
  CHECK(pair.read_body() == "ok");
  client.join();
}

TEST_CASE("an answer before the body was read closes the connection", "[serve]") {
  HttpPair pair;
  pair.say(
      "POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n");
  ::shutdown(pair.client.get(), SHUT_WR);
  REQUIRE(pair.connection.next_request() != nullptr);
  pair.answer(405, "no");
  CHECK(pair.connection.next_request() == nullptr);
  pair.stream.reset();
  const std::string got = pair.received();
  CHECK(got.find("Connection: close\r\n") != got.npos);
  CHECK(got.ends_with("no"));
}

TEST_CASE("a malformed chunk is told from a peer that is gone", "[serve]") {
  HttpPair pair;
  pair.say("POST / HTTP/1.1\r\nHost: x\r\nTransfer-Encoding: chunked\r\n\r\nx\r\n");
  REQUIRE(pair.connection.next_request() != nullptr);
  CHECK(pair.read_body() == "broken");
  CHECK_FALSE(pair.stream->is_over());
  CHECK(pair.connection.status_of_broken_body().number() == 400);
  HttpPair gone;
  gone.say("POST / HTTP/1.1\r\nHost: x\r\nContent-Length: 9\r\n\r\nhalf");
  ::shutdown(gone.client.get(), SHUT_WR);
  REQUIRE(gone.connection.next_request() != nullptr);
  CHECK(gone.read_body() == "broken");
  CHECK(gone.stream->is_over());
}

TEST_CASE("a malformed request is answered, and what is behind it is not read", "[serve]") {
  HttpPair pair;
  pair.say("GET / HTTP/1.1\r\nHost : x\r\n\r\nGET / HTTP/1.1\r\nHost: x\r\n\r\n");
  ::shutdown(pair.client.get(), SHUT_WR);
  CHECK(pair.connection.next_request() == nullptr);
  pair.stream.reset();
  const std::string got = pair.received();
  CHECK(got.starts_with("HTTP/1.1 400 Bad Request\r\n"));
  CHECK(count(got, "HTTP/1.1") == 1);
}

TEST_CASE("a head of 16,384 bytes is taken, and one that is a byte longer is not", "[serve]") {
  const std::string start = "GET / HTTP/1.1\r\nHost: x\r\nX: ";
  for (const std::size_t size : {16'384U, 16'385U}) {
    HttpPair pair;
    pair.say("\r\n" + start + std::string(size - start.size() - 4, 'x') + "\r\n\r\n");
    ::shutdown(pair.client.get(), SHUT_WR);
    pair.echo_all();
    CHECK(pair.received().starts_with(size == 16'384 ? "HTTP/1.1 200 " : "HTTP/1.1 431 "));
  }
}

TEST_CASE("HTTP/1.0 is closed after an answer, unless it asks for more", "[serve]") {
  HttpPair pair;
  pair.say(
      "GET /a HTTP/1.0\r\nConnection: Keep-Alive\r\n\r\nGET /b HTTP/1.0\r\n\r\nGET /c "
      "HTTP/1.0\r\n\r\n");
  ::shutdown(pair.client.get(), SHUT_WR);
  pair.echo_all();
  const std::string got = pair.received();
  CHECK(count(got, "Connection: keep-alive\r\n") == 1);
  CHECK(count(got, "Connection: close\r\n") == 1);
  CHECK(got.ends_with("/b"));
}

TEST_CASE("a head that comes too slowly ends the conversation without an answer", "[serve]") {
  HttpPair pair(100);
  std::atomic<bool> is_left = false;
  std::thread trickle([&] {
    net::send_all(pair.client.get(), "GET / HTTP/1.1\r\nX: ");
    while (!is_left && net::send_all(pair.client.get(), "x")) base::pause_ms(5);
  });
  CHECK(pair.connection.next_request() == nullptr);
  is_left = true;
  trickle.join();
}

TEST_CASE("draining ends a conversation before the requests that wait", "[serve]") {
  HttpPair pair;
  pair.say("GET /a HTTP/1.1\r\nHost: x\r\n\r\nGET /b HTTP/1.1\r\nHost: x\r\n\r\n");
  ::shutdown(pair.client.get(), SHUT_WR);
  REQUIRE(pair.connection.next_request() != nullptr);
  pair.is_draining = true;
  pair.answer(200, "a");
  CHECK(pair.connection.next_request() == nullptr);
  pair.stream.reset();
  const std::string got = pair.received();
  CHECK(count(got, "Connection: close\r\n") == 1);
  CHECK(got.ends_with("\r\n\r\na"));
}

TEST_CASE("a server that drains takes up no request that waits", "[serve]") {
  HttpPair pair;
  pair.say("GET /a HTTP/1.1\r\nHost: x\r\n\r\n");
  ::shutdown(pair.client.get(), SHUT_WR);
  pair.is_draining = true;
  CHECK(pair.connection.next_request() == nullptr);
  pair.stream.reset();
  CHECK(pair.received().empty());
}
