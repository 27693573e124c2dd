#include "serve/stream.h"

#include <fcntl.h>
#include <linux/sockios.h>
#include <sys/ioctl.h>
#include <sys/socket.h>

#include <cerrno>
#include <filesystem>
#include <string>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "tests/catch.h"
#include "tests/lib/serve/stream_pair.h"
#include "tests/own_waits.h"
#include "tests/temporary_folder.h"

using tests::StreamPair;

namespace {

constexpr std::string_view kHead = "head ";

// A thread in which others go on whenever a caller has worked. Their calls fail. When the caller
// waits, the peer finishes.
class OthersFail final : public tests::OwnWaits {
 public:
  explicit OthersFail(int peer) : peer_(peer) {}
  int waits() const { return waits_; }

  void has_worked(int /*units*/) override { errno = ECONNRESET; }
  bool wait_for(int /*fd*/, short /*events*/, std::int64_t /*until_ns*/) override {
    ++waits_;
    return ::shutdown(peer_, SHUT_WR) == 0;
  }

 private:
  const int peer_;
  int waits_ = 0;
};

// What the kernel holds back.
int unsent_bytes(int fd) {
  int bytes = 0;
  ::ioctl(fd, SIOCOUTQNSD, &bytes);
  return bytes;
}

}  // namespace

TEST_CASE("a stream receives what comes until the peer has finished", "[serve]") {
  StreamPair pair;
  REQUIRE(net::send_all(pair.client.get(), "bytes"));
  ::shutdown(pair.client.get(), SHUT_WR);
  std::array<char, 10> bytes;
  auto deadline = pair.stream->idle_deadline();
  CHECK(pair.stream->receive(bytes, deadline) == 5);
  CHECK_FALSE(pair.stream->is_over());
  CHECK(pair.stream->receive(bytes, deadline) == 0);
  CHECK(pair.stream->is_over());
}

TEST_CASE("a stream that may rest does not while the end of the peer is unread", "[serve]") {
  StreamPair pair;
  pair.stream->let_rest();
  REQUIRE(net::send_all(pair.client.get(), "bytes"));
  ::shutdown(pair.client.get(), SHUT_WR);
  pair.stream->note_bytes();
  pair.stream->note_end();
  std::array<char, 10> bytes;
  auto deadline = pair.stream->idle_deadline();
  CHECK(pair.stream->receive_first(bytes, deadline) == 5);
  CHECK(pair.stream->receive_first(bytes, deadline) == 0);
  CHECK_FALSE(pair.stream->is_resting());
  CHECK(pair.stream->is_over());
}

TEST_CASE("a gentle end waits for the peer, though calls of others fail meanwhile", "[serve]") {
  StreamPair pair;
  OthersFail others(pair.client.get());
  pair.stream->end_gently();
  CHECK(others.waits() >= 1);
}

TEST_CASE("head and body are sent in one piece", "[serve]") {
  StreamPair pair;
  const std::string body(1000, 'x');
  CHECK(pair.stream->send(kHead, body));
  std::array<char, 4096> bytes;
  CHECK(net::receive(pair.client.get(), bytes) == 1005);
}

TEST_CASE("the last bytes of a connection leave with its end", "[serve]") {
  bool have_waited = false;  // a busy machine may not look within 200 ms, at which they leave
  for (int tries = 0; tries < 100 && !have_waited; ++tries) {
    StreamPair pair;
    pair.stream->close_behind_reply();
    pair.stream->begin_sized_reply(4);
    pair.stream->send(kHead, std::string_view("body"));
    have_waited = unsent_bytes(pair.stream->fd()) > 0;
    pair.stream.reset();
    CHECK(pair.received() == "head body");
  }
  CHECK(have_waited);
}

TEST_CASE("what is not the last of a reply leaves at once", "[serve]") {
  StreamPair pair;
  pair.stream->close_behind_reply();
  pair.stream->begin_sized_reply(8);
  pair.stream->send(kHead, std::string_view("body"));
  CHECK(unsent_bytes(pair.stream->fd()) == 0);
}

TEST_CASE("what is sent behind the end of a stream is dropped", "[serve]") {
  StreamPair pair;
  CHECK(pair.stream->send(kHead));
  pair.stream->abort();
  CHECK_FALSE(pair.stream->send(kHead, std::string_view("body")));
  pair.stream.reset();
  CHECK(pair.received() == kHead);
}

TEST_CASE("a range of a file follows its head", "[serve]") {
  const tests::TemporaryFolder folder;
  folder.write("file", "0123456789");
  const net::Fd file(::open(folder.path("file").c_str(), O_RDONLY | O_CLOEXEC));
  StreamPair pair;
  pair.stream->begin_sized_reply(5);
  pair.stream->send(kHead, net::FilePart{file.get(), 2, 5});
  CHECK(pair.stream->sized_reply().is_whole);
  CHECK(pair.stream->sized_reply().sent_bytes == 5);
  pair.stream.reset();
  CHECK(pair.received() == "head 23456");
}

TEST_CASE("a file that is shorter than its range ends the conversation", "[serve]") {
  const tests::TemporaryFolder folder;
  folder.write("file", "0123456789");
  const net::Fd file(::open(folder.path("file").c_str(), O_RDONLY | O_CLOEXEC));
  StreamPair pair;
  pair.stream->begin_sized_reply(5);
  pair.stream->send(kHead, net::FilePart{file.get(), 7, 5});
  CHECK_FALSE(pair.stream->sized_reply().is_whole);
  CHECK(pair.stream->is_over());
  pair.stream.reset();
  CHECK(pair.received() == "head 789");
}

TEST_CASE("a peer that takes no byte of a file is disconnected after the idle time-out",
          "[serve]") {
  const tests::TemporaryFolder folder;
  folder.write("file", "");
  std::filesystem::resize_file(folder.path("file"), 1 << 30);
  const net::Fd file(::open(folder.path("file").c_str(), O_RDONLY | O_CLOEXEC));
  StreamPair pair(50);
  pair.stream->begin_sized_reply(1 << 30);
  pair.stream->send(kHead, net::FilePart{file.get(), 0, 1 << 30});
  CHECK_FALSE(pair.stream->sized_reply().is_whole);
  CHECK(pair.stream->is_over());
}

TEST_CASE("a peer that takes a file too slowly is disconnected, though it takes some all the time",
          "[serve]") {
  constexpr std::int64_t kMinRate = 1'000'000'000'000;
  const tests::TemporaryFolder folder;
  folder.write("file", "");
  std::filesystem::resize_file(folder.path("file"), 1 << 30);
  const net::Fd file(::open(folder.path("file").c_str(), O_RDONLY | O_CLOEXEC));
  StreamPair pair(100, kMinRate);
  std::thread slow([&] {
    std::array<char, 4096> buffer;
    while (net::receive(pair.client.get(), buffer) > 0) base::pause_ms(1);
  });
  pair.stream->begin_sized_reply(1 << 30);
  pair.stream->send(kHead, net::FilePart{file.get(), 0, 1 << 30});
  CHECK_FALSE(pair.stream->sized_reply().is_whole);
  CHECK(pair.stream->is_over());
  pair.stream.reset();
  slow.join();
}

TEST_CASE("a peer that takes no byte of a reply is disconnected after the idle time-out",
          "[serve]") {
  StreamPair pair(100);
  const std::string body(64 << 20, 'x');
  pair.stream->begin_sized_reply(body.size());
  pair.stream->send(kHead, body);
  CHECK(pair.stream->is_over());
}

TEST_CASE("a peer that is gone ends the conversation", "[serve]") {
  StreamPair pair;
  pair.client = net::Fd();
  const std::string body(64 << 20, 'x');
  pair.stream->begin_sized_reply(body.size());
  pair.stream->send(kHead, body);
  CHECK(pair.stream->is_over());
}

TEST_CASE("a sized reply says how far it has come, and when", "[serve]") {
  StreamPair pair;
  pair.stream->keep_times();
  const std::int64_t before_ns = base::now_ns();
  pair.stream->begin_sized_reply(6);
  CHECK(pair.stream->sized_reply().first_byte_ns == 0);
  pair.stream->send(kHead, std::string_view("abc"));
  CHECK(pair.stream->sized_reply().sent_bytes == 3);
  CHECK_FALSE(pair.stream->sized_reply().is_whole);
  const serve::SizedReply half = pair.stream->sized_reply();
  pair.stream->send({}, std::string_view("def"));
  const serve::SizedReply whole = pair.stream->sized_reply();
  CHECK(whole.is_whole);
  CHECK(whole.size_bytes == 6);
  CHECK(whole.sent_bytes == 6);
  CHECK(before_ns <= whole.first_byte_ns);
  CHECK(whole.first_byte_ns == half.first_byte_ns);
  CHECK(half.first_byte_ns <= half.last_byte_ns);
  CHECK(half.last_byte_ns < whole.last_byte_ns);
}

TEST_CASE("an empty file is whole once its head was sent, and not before", "[serve]") {
  StreamPair pair;
  pair.stream->begin_sized_reply(0);
  CHECK_FALSE(pair.stream->sized_reply().is_whole);
  pair.stream->send(kHead);
  CHECK(pair.stream->sized_reply().is_whole);
}

TEST_CASE("a sized reply whose peer is gone is not whole", "[serve]") {
  StreamPair pair;
  pair.client = net::Fd();
  const std::string body(64 << 20, 'x');
  pair.stream->begin_sized_reply(body.size());
  pair.stream->send(kHead, body);
  CHECK_FALSE(pair.stream->sized_reply().is_whole);
  CHECK(pair.stream->sized_reply().sent_bytes < body.size());
}
