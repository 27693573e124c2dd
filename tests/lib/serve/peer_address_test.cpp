#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>

#include "base/stop_signals.h"
#include "net/connect.h"
#include "net/listen.h"
#include "net/socket_io.h"
#include "serve/line_conversation.h"
#include "serve/servers.h"
#include "tests/catch.h"

namespace {

// Answers each line with the address of the peer.
class NamesThePeer : public serve::LineWorker {
 private:
  void converse(serve::LineConversation& connection) override {
    while (connection.next_line())
      connection.reply_error(base::ErrorCode::kDenied, connection.peer().text());
  }
};

using Model = bool (*)(serve::Front, const serve::Options&);

bool runs_threads(serve::Front front, const serve::Options& options) {
  return serve::serve_with_threads(serve::only(std::move(front)), options);
}

bool runs_processes(serve::Front front, const serve::Options& options) {
  return serve::serve_with_processes(serve::only(std::move(front)), options);
}

// A server in a process of its own, until the end of the test.
class PeerServer {
 public:
  PeerServer(Model model, int spare, const char* host)
      : listener_(std::move(*net::listen_on({host, 0}, 0))), pid_(::fork()) {
    if (pid_ != 0) return;
    base::hold_stop_signals();
    serve::Options options;
    options.spare = spare;
    model({std::move(listener_), [] { return std::make_unique<NamesThePeer>(); }}, options);
    ::_exit(0);
  }
  ~PeerServer() {
    ::kill(pid_, SIGTERM);
    ::waitpid(pid_, nullptr, 0);
  }

  // The reply to a connection that comes from `source` to `target`.
  std::string ask(const char* source, const char* target) const {
    const net::SocketAddress from = net::resolve({source, 0})->front();
    const net::SocketAddress to = net::resolve({target, listener_.address.port})->front();
    const auto fd = net::connect_to(to, 60'000, &from);
    REQUIRE(fd);
    REQUIRE(net::send_all(fd->get(), "who\n"));
    std::array<char, 100> reply;
    const ssize_t got = net::receive(fd->get(), reply);
    return {reply.data(), static_cast<std::size_t>(got > 0 ? got : 0)};
  }

 private:
  net::Listener listener_;
  const pid_t pid_;
};

}  // namespace

TEST_CASE("a connection knows its peer's address in both models, with and without spare ones",
          "[serve]") {
  for (const Model model : {&runs_threads, &runs_processes}) {
    for (const int spare : {0, 2}) {
      CAPTURE(model == &runs_threads, spare);
      const PeerServer server(model, spare, "127.0.0.1");
      CHECK(server.ask("127.0.0.1", "127.0.0.1") == "ERR denied 127.0.0.1\n");
      CHECK(server.ask("127.0.0.2", "127.0.0.1") == "ERR denied 127.0.0.2\n");
    }
  }
}

TEST_CASE("an IPv4 peer of an IPv6 listener is known by its IPv4 address", "[serve]") {
  if (!net::listen_on({"::", 0}, 0)) return;  // this machine has no IPv6
  const PeerServer server(&runs_threads, 2, "::");
  CHECK(server.ask("127.0.0.3", "127.0.0.1") == "ERR denied 127.0.0.3\n");
}
