#include "serve/encrypted.h"

#include <openssl/ssl.h>
#include <sys/resource.h>

#include <array>
#include <cstddef>
#include <memory>
#include <new>
#include <optional>
#include <string_view>
#include <thread>
#include <vector>

#include "tests/catch.h"
#include "tests/lib/serve/stream_pair.h"
#include "tests/lib/tls/certificate.h"
#include "tests/temporary_folder.h"
#include "tls/server_context.h"

namespace {

net::IpAddress address(const char* text) { return net::parse_ip_address(text).value(); }

class Server {
 public:
  tests::TemporaryFolder folder;
  std::unique_ptr<tls::ServerContext> context =
      std::move(*tls::ServerContext::open(tests::make_certificate(folder.path())));
  serve::Handshakes handshakes{1};
  serve::HandshakeNote note;
  const serve::Encryption encryption{*context, tls::Spoken::kHttp, handshakes, &note};
};

}  // namespace

TEST_CASE("an address has at most a quarter of the handshakes", "[serve]") {
  serve::Handshakes handshakes(40);
  const auto one = address("192.0.2.1");
  for (int i = 0; i < 10; ++i) REQUIRE(handshakes.begin(one));
  CHECK_FALSE(handshakes.begin(one));
  const auto group = handshakes.begin(address("192.0.2.2"));
  REQUIRE(group);
  handshakes.end(*group);
  CHECK_FALSE(handshakes.begin(one));
}

TEST_CASE("one handshake may always be under way", "[serve]") {
  serve::Handshakes handshakes(1);
  const auto one = address("192.0.2.1");
  const auto group = handshakes.begin(one);
  REQUIRE(group);
  CHECK_FALSE(handshakes.begin(one));
  CHECK_FALSE(handshakes.begin(address("192.0.2.2")));
  handshakes.end(*group);
  CHECK(handshakes.begin(address("192.0.2.2")));
}

namespace {

// How the connection ends for a client: SSL_ERROR_ZERO_RETURN if the server says goodbye. The
// server does `reply`, and closes.
template <typename Reply>
int end_of_connection(Reply reply) {
  const Server server;
  tests::StreamPair pair(60'000, 0, &server.encryption);
  int end = SSL_ERROR_NONE;
  std::jthread client([&, fd = pair.client.get()] {
    const std::unique_ptr<SSL_CTX, decltype(&SSL_CTX_free)> context(
        SSL_CTX_new(TLS_client_method()), &SSL_CTX_free);
    const std::unique_ptr<SSL, decltype(&SSL_free)> ssl(SSL_new(context.get()), &SSL_free);
    SSL_set_fd(ssl.get(), fd);
    SSL_connect(ssl.get());
    SSL_write(ssl.get(), "?", 1);
    std::array<char, 100> bytes;
    int got = 0;
    while ((got = SSL_read(ssl.get(), bytes.data(), static_cast<int>(bytes.size()))) > 0) {
    }
    end = SSL_get_error(ssl.get(), got);
  });
  std::array<char, 1> asked{};
  auto deadline = pair.stream->idle_deadline();
  CHECK(pair.stream->receive(asked, deadline) == 1);
  reply(*pair.stream);
  pair.stream.reset();
  client.join();
  return end;
}

}  // namespace

TEST_CASE("a reply without a size that is cut ends without a goodbye", "[serve]") {
  constexpr std::string_view kPart = "a part";
  CHECK(end_of_connection([&](serve::Stream& stream) {
          stream.begin_unsized_reply(false);
          CHECK(stream.send(kPart));
          stream.abort();
        }) != SSL_ERROR_ZERO_RETURN);
  CHECK(end_of_connection([&](serve::Stream& stream) {
          stream.begin_unsized_reply(false);
          CHECK(stream.send(kPart));
          stream.end_unsized_reply();
        }) == SSL_ERROR_ZERO_RETURN);
}

#if !defined(TURNSTILE_SANITIZE_ADDRESS) && !defined(TURNSTILE_SANITIZE_THREAD)

namespace {

// While it lives, there is no memory for anything large.
class NoMemory {
 public:
  NoMemory() {
    ::getrlimit(RLIMIT_AS, &before_);
    const rlimit none{1, before_.rlim_max};
    ::setrlimit(RLIMIT_AS, &none);
    for (std::size_t size = std::size_t{1} << 24; size >= 512; size /= 2) {
      while (auto* const block = static_cast<Block*>(::operator new(size, std::nothrow))) {
        block->behind = first_;
        first_ = block;
      }
    }
  }
  ~NoMemory() {
    while (first_ != nullptr) {
      Block* const block = first_;
      first_ = block->behind;
      ::operator delete(block);
    }
    ::setrlimit(RLIMIT_AS, &before_);
  }
  NoMemory(const NoMemory&) = delete;
  NoMemory& operator=(const NoMemory&) = delete;

 private:
  struct Block {
    Block* behind;
  };
  rlimit before_{};
  Block* first_ = nullptr;
};

}  // namespace

TEST_CASE("a handshake for which there is no memory leaves its place", "[serve][rlimit]") {
  Server server;
  const auto one = address("192.0.2.1");
  const auto pair = std::make_unique<tests::StreamPair>();
  const auto begin = [&] {
    return serve::Encrypted::begin(server.encryption, pair->stream->fd(), one, 0);
  };
  CHECK(begin());
  bool has_failed = false;
  {
    const NoMemory no_memory;
    try {
      begin();
    } catch (const std::bad_alloc&) {
      has_failed = true;
    }
  }
  CHECK(has_failed);
  server.note.settle(server.handshakes);  // as its parent does once this process is gone
  CHECK(server.handshakes.begin(one));
  CHECK_FALSE(server.handshakes.begin(one));
}

#endif
