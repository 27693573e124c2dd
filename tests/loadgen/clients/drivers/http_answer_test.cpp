#include "loadgen/clients/drivers/http_answer.h"

#include <string>
#include <vector>

#include "tests/catch.h"

using loadgen::HttpAnswer;
using State = HttpAnswer::State;

namespace {

// The state after the whole head. Any piecewise reading has the same.
State state_of(std::string_view head) {
  HttpAnswer whole;
  const State state = whole.read(head);
  HttpAnswer bytewise;
  State last = State::kNeedMore;
  for (std::size_t size = 1; size <= head.size() && last == State::kNeedMore; ++size)
    last = bytewise.read(head.substr(0, size));
  CHECK(last == state);
  if (state == State::kComplete) CHECK(bytewise.head_bytes() == whole.head_bytes());
  return state;
}

HttpAnswer read(const std::string& lines) {
  HttpAnswer answer;
  CAPTURE(lines);
  CHECK(state_of(lines + "\r\n") == State::kComplete);
  CHECK(answer.read(lines + "\r\nbody") == State::kComplete);
  CHECK(answer.head_bytes() == lines.size() + 2);
  return answer;
}

// Of 64 KiB and `more` bytes.
std::string longest_head(std::size_t more) {
  const std::string begin = "HTTP/1.1 200 OK\r\nX: ";
  return begin + std::string(HttpAnswer::kMaxHeadBytes + more - begin.size() - 4, 'x') + "\r\n\r\n";
}

}  // namespace

TEST_CASE("the head of an answer has a status, a length, and an end", "[loadgen]") {
  const HttpAnswer answer =
      read("HTTP/1.1 404 Not Found\r\nServer: x\r\nCONTENT-length:\t 12 \r\n");
  CHECK(answer.status() == 404);
  CHECK(answer.status_line_bytes() == 22);
  CHECK(answer.content_length() == 12);
  CHECK_FALSE(answer.is_encoded());
  CHECK(read("HTTP/1.1 200 \r\n").status() == 200);
  CHECK_FALSE(read("HTTP/1.1 204 No Content\r\n").content_length());
  CHECK(read("HTTP/1.1 200 OK\r\nContent-Length: 9999999999999999999\r\n").content_length() ==
        9'999'999'999'999'999'999U);
  CHECK(read("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n").is_encoded());
}

TEST_CASE("an answer says whether the connection stays", "[loadgen]") {
  const std::string ok_11 = "HTTP/1.1 200 OK\r\n";
  const std::string ok_10 = "HTTP/1.0 200 OK\r\n";
  CHECK(read(ok_11).keeps_connection());
  CHECK(read(ok_11 + "Connection: keep-alive\r\n").keeps_connection());
  CHECK_FALSE(read(ok_11 + "Connection: Close\r\n").keeps_connection());
  CHECK_FALSE(read(ok_11 + "Connection: x, close ,y\r\n").keeps_connection());
  CHECK_FALSE(read(ok_11 + "Connection: keep-alive\r\nConnection: close\r\n").keeps_connection());
  CHECK(read(ok_11 + "Connection: closed\r\n").keeps_connection());
  CHECK_FALSE(read(ok_10).keeps_connection());
  CHECK(read(ok_10 + "Connection: Keep-Alive\r\n").keeps_connection());
  CHECK_FALSE(read(ok_10 + "Connection: keep-alive, close\r\n").keeps_connection());
}

TEST_CASE("what is no head is malformed as soon as that is sure", "[loadgen]") {
  const std::string ok = "HTTP/1.1 200 OK\r\n";
  const std::vector<std::string> heads{"\r\n",
                                       "OK\n",
                                       "H\n",
                                       "X",
                                       "HTTP/2",
                                       "HTTP/1.2 200 OK\r\n",
                                       "HTTP/1.1 200\r\n",
                                       "HTTP/1.1 20 OK\r\n",
                                       "HTTP/1.1 2000 OK\r\n",
                                       "HTTP/1.1 099 OK\r\n",
                                       "HTTP/1.1 -20 OK\r\n",
                                       "HTTP/1.1  200 OK\r\n",
                                       "HTTP/1.1\t200 OK\r\n",
                                       "HTTP/1.11 200 OK\r\n",
                                       "HTTP/1.1 200 OK\n",
                                       "HTTP/1.1 200 O\x01K\r\n",
                                       "http/1.1 200 OK\r\n",
                                       ok + "\n",
                                       ok + "No colon\r\n",
                                       ok + ": x\r\n",
                                       ok + "A b: x\r\n",
                                       ok + "A : x\r\n",
                                       ok + " folded: x\r\n",
                                       ok + "A: x\n",
                                       ok + "A: x\ry\r\n",
                                       ok + "A: x" + std::string(1, '\0') + "\r\n",
                                       ok + "A: \x7f\r\n",
                                       ok + "Content-Length:\r\n",
                                       ok + "Content-Length: -1\r\n",
                                       ok + "Content-Length: +1\r\n",
                                       ok + "Content-Length: 1, 1\r\n",
                                       ok + "Content-Length: 0x1\r\n",
                                       ok + "Content-Length: 10000000000000000000\r\n",
                                       ok + "Content-Length: 1\r\nContent-Length: 1\r\n"};
  for (const std::string& head : heads) {
    CAPTURE(head);
    CHECK(state_of(head) == State::kMalformed);
  }
}

TEST_CASE("the head of an answer has a limit", "[loadgen]") {
  CHECK(HttpAnswer().read(longest_head(0)) == State::kComplete);
  CHECK(HttpAnswer().read(longest_head(1)) == State::kMalformed);
  const std::string endless = longest_head(1);
  CHECK(HttpAnswer().read(endless.substr(0, HttpAnswer::kMaxHeadBytes - 1)) == State::kNeedMore);
  CHECK(HttpAnswer().read(endless.substr(0, HttpAnswer::kMaxHeadBytes)) == State::kMalformed);
}
