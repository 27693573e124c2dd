#include "tls/channel.h"

#include <fcntl.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <functional>
#include <memory>
#include <string>
#include <thread>
#include <vector>

#include "base/file_io.h"
#include "net/fd.h"
#include "net/socket_io.h"
#include "tests/catch.h"
#include "tests/lib/tls/certificate.h"
#include "tests/own_waits.h"
#include "tests/temporary_folder.h"
#include "tls/server_context.h"

namespace {

// A client and a channel that have made their handshake.
class TlsPair {
 public:
  explicit TlsPair(tls::ServerContext& server)
      : context_(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free) {
    int ends[2];
    REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
    client_fd = net::Fd(ends[0]);
    server_fd = net::Fd(ends[1]);
    channel = server.accept(server_fd.get(), tls::Spoken::kHttp, 0);
    client = SSL_new(context_.get());
    SSL_set_fd(client, client_fd.get());
    std::jthread connects([this] { SSL_connect(client); });
    std::array<char, 10> nothing;
    while (!channel->is_established()) {
      REQUIRE(channel->receive(nothing) < 0);
      REQUIRE(errno == EAGAIN);
    }
  }
  ~TlsPair() { SSL_free(client); }
  TlsPair(const TlsPair&) = delete;
  TlsPair& operator=(const TlsPair&) = delete;

  void never_block() const { ::fcntl(server_fd.get(), F_SETFL, O_NONBLOCK); }

  // What the client gets, until so many bytes have come.
  std::string take(std::size_t size) const {
    std::string taken(size, '\0');
    for (std::size_t have = 0; have < size;) {
      const int got = SSL_read(client, taken.data() + have, static_cast<int>(size - have));
      REQUIRE(got > 0);
      have += static_cast<std::size_t>(got);
    }
    return taken;
  }

  net::Fd client_fd;
  net::Fd server_fd;
  std::unique_ptr<tls::Channel> channel;
  SSL* client = nullptr;

 private:
  const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context_;
};

class Server {
 public:
  tls::ServerContext& context() { return **made_; }

 private:
  tests::TemporaryFolder folder_;
  base::Result<std::unique_ptr<tls::ServerContext>> made_ =
      tls::ServerContext::open(tests::make_certificate(folder_.path()));
};

// While one connection waits, `others` go on.
class OthersGoOn final : public tests::OwnWaits {
 public:
  explicit OthersGoOn(std::function<void()> others) : others_(std::move(others)) {}

  bool wait_for(int /*fd*/, short /*events*/, std::int64_t /*until_ns*/) override {
    others_();
    return true;
  }

 private:
  const std::function<void()> others_;
};

}  // namespace

TEST_CASE("bytes go both ways, a head and a body in one piece", "[tls]") {
  Server server;
  TlsPair pair(server.context());
  REQUIRE(SSL_write(pair.client, "hello", 5) == 5);
  std::array<char, 100> bytes;
  CHECK(pair.channel->receive(bytes) == 5);
  const std::string head = "head ";
  const std::string body = "body";
  CHECK(pair.channel->send(head, std::span<const char>(body)) == 9);
  std::array<char, 100> got;
  CHECK(SSL_read(pair.client, got.data(), got.size()) == 9);
}

TEST_CASE("a record that comes in parts is nothing before its end", "[tls]") {
  Server server;
  TlsPair pair(server.context());
  int between[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, between) == 0);
  const net::Fd out(between[0]);
  const net::Fd in(between[1]);
  SSL_set_wfd(pair.client, out.get());
  REQUIRE(SSL_write(pair.client, "hello", 5) == 5);
  std::array<char, 100> record;
  const ssize_t size = net::receive(in.get(), record);
  std::array<char, 100> bytes;
  for (ssize_t i = 0; i < size; ++i) {
    CHECK(pair.channel->receive_now(bytes) == -1);
    CHECK(errno == EAGAIN);
    REQUIRE(net::send_all(pair.client_fd.get(), {record.data() + i, 1}));
  }
  CHECK(pair.channel->receive_now(bytes) == 5);
  CHECK(pair.channel->receive_now(bytes) == -1);
  CHECK_FALSE(pair.channel->may_have_more());
}

TEST_CASE("who says goodbye has finished, who has sent more has not", "[tls]") {
  Server server;
  TlsPair pair(server.context());
  CHECK_FALSE(pair.channel->has_peer_finished());
  REQUIRE(SSL_write(pair.client, "a", 1) == 1);
  SSL_shutdown(pair.client);
  CHECK_FALSE(pair.channel->has_peer_finished());
  std::array<char, 100> bytes;
  CHECK(pair.channel->receive(bytes) == 1);
  CHECK(pair.channel->has_peer_finished());
  CHECK(pair.channel->receive(bytes) == 0);
}

TEST_CASE("a letter instead of a handshake is HTTP without TLS", "[tls]") {
  Server server;
  int ends[2];
  REQUIRE(::socketpair(AF_UNIX, SOCK_STREAM, 0, ends) == 0);
  const net::Fd client(ends[0]);
  const net::Fd fd(ends[1]);
  const auto channel = server.context().accept(fd.get(), tls::Spoken::kHttp, 0);
  REQUIRE(net::send_all(client.get(), "GET / HTTP/1.1\r\n"));
  std::array<char, 10> bytes;
  CHECK(channel->receive(bytes) == -1);
  CHECK(channel->is_plain());
  std::array<char, 10> answer;
  CHECK(net::receive_now(client.get(), answer) == -1);
}

TEST_CASE("what waits for room is not mixed with what others of the thread send", "[tls]") {
  constexpr std::size_t kBytes = 2'000'000;
  Server server;
  TlsPair pair(server.context());
  TlsPair other(server.context());
  pair.never_block();
  other.never_block();
  const tests::TemporaryFolder folder;
  const net::Fd file(::open(folder.path("file").c_str(), O_RDWR | O_CREAT | O_CLOEXEC, 0600));
  const std::string content(kBytes, 'a');
  REQUIRE(base::write_all(file.get(), content));

  const std::string head = "head";
  std::string taken;
  const std::string noise(10'000, 'z');
  const OthersGoOn others([&] {
    other.channel->send(noise, std::span<const char>(noise));
    other.take(2 * noise.size());
    taken += pair.take(16 * 1024);
  });
  net::FilePart part{file.get(), 0, kBytes};
  ssize_t sent = pair.channel->send(head, part) - static_cast<ssize_t>(head.size());
  REQUIRE(sent >= 0);
  while (static_cast<std::size_t>(sent) < kBytes) {
    part = {file.get(), sent, kBytes - static_cast<std::size_t>(sent)};
    const ssize_t more = pair.channel->send({}, part);
    REQUIRE(more > 0);
    sent += more;
  }
  taken += pair.take(head.size() + kBytes - taken.size());
  CHECK((taken == head + content));
}

namespace {

// So many records that only change the keys of the client.
std::string key_updates(SSL* client, int count) {
  BIO* const written = ::BIO_new(::BIO_s_mem());
  SSL_set0_wbio(client, written);
  for (int i = 0; i < count; ++i) {
    REQUIRE(SSL_key_update(client, SSL_KEY_UPDATE_NOT_REQUESTED) == 1);
    REQUIRE(SSL_do_handshake(client) == 1);
  }
  REQUIRE(SSL_write(client, "x", 1) == 1);
  char* bytes = nullptr;
  const long size = BIO_get_mem_data(written, &bytes);
  return {bytes, static_cast<std::size_t>(size)};
}

}  // namespace

TEST_CASE("a client may change its keys, but does nothing else with much that it sends", "[tls]") {
  Server server;
  TlsPair pair(server.context());
  std::array<char, 100> bytes;
  for (int i = 0; i < 4; ++i) {
    const std::string some = key_updates(pair.client, 1500);
    REQUIRE(some.size() > 40'000);
    REQUIRE(base::write_all(pair.client_fd.get(), some));
    REQUIRE(pair.channel->receive(bytes) == 1);
  }
  const std::string many = key_updates(pair.client, 6000);
  REQUIRE(net::send_now(pair.client_fd.get(), many) == static_cast<ssize_t>(many.size()));
  CHECK(pair.channel->receive(bytes) == -1);
  CHECK(errno == EPROTO);
}
