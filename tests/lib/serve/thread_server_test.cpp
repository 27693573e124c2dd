#include "serve/servers.h"

#include <signal.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <chrono>
#include <new>
#include <thread>

#include "base/stop_signals.h"
#include "net/connect.h"
#include "net/listen.h"
#include "net/socket_io.h"
#include "serve/line_conversation.h"
#include "serve/options.h"
#include "tests/catch.h"

namespace {

class AnswersInThreads : public serve::LineWorker {
 private:
  void converse(serve::LineConversation& connection) override {
    while (connection.next_line()) connection.reply_ok();
  }
};

class EndsLate final : public AnswersInThreads {
 public:
  explicit EndsLate(const std::atomic<bool>& may_end) : may_end_(may_end) {}
  ~EndsLate() override { may_end_.wait(false); }

 private:
  const std::atomic<bool>& may_end_;
};

class AnswersHello : public serve::Worker {
 public:
  void serve(serve::Stream& stream) override { stream.send(std::string_view("hello\n")); }
};

// A server that runs in this process until the end of the test. A second front, if there is one,
// says hello, and `full` to a connection over the limit.
class Running {
 public:
  Running(int spare, const serve::MakeWorker& make_worker, int max_connections = 4096,
          bool has_second_front = false)
      : first_(std::move(*net::listen_on({"127.0.0.1", 0}, 0))),
        second_(std::move(*net::listen_on({"127.0.0.1", 0}, 0))),
        address_(net::resolve(first_.address)->front()),
        second_address_(net::resolve(second_.address)->front()),
        thread_([this, spare, make_worker, max_connections, has_second_front] {
          base::hold_stop_signals();
          serve::Options options;
          options.spare = spare;
          options.max_connections = max_connections;
          options.fronts = has_second_front ? 2 : 1;
          auto fronts = serve::only({std::move(first_), make_worker});
          if (has_second_front) {
            fronts.push_back({std::move(second_), [] { return std::make_unique<AnswersHello>(); },
                              [] { return std::string("full\n"); }});
          }
          serve::serve_with_threads(std::move(fronts), options);
        }) {}
  ~Running() {
    ::pthread_kill(thread_.native_handle(), SIGTERM);
    thread_.join();
  }

  net::Fd connect() const { return std::move(*net::connect_to(address_, 60'000)); }

  // One connection with one line: the reply, once the server has closed the connection.
  std::string ask() const { return ask_at(address_); }
  std::string ask_second() const { return ask_at(second_address_); }

 private:
  static std::string ask_at(const net::SocketAddress& address) {
    const auto fd = net::connect_to(address, 60'000);
    net::send_all(fd->get(), "ping\n");
    ::shutdown(fd->get(), SHUT_WR);
    std::string reply;
    std::array<char, 64> buffer;
    for (ssize_t got = 0; (got = net::receive(fd->get(), buffer)) > 0;) {
      reply.append(buffer.data(), static_cast<std::size_t>(got));
    }
    return reply;
  }

  net::Listener first_;
  net::Listener second_;
  const net::SocketAddress address_;
  const net::SocketAddress second_address_;
  std::thread thread_;
};

}  // namespace

TEST_CASE("a spare thread serves one connection after another", "[serve]") {
  std::atomic<int> threads = 0;
  const Running server(4, [&] {
    ++threads;
    return std::make_unique<AnswersInThreads>();
  });
  for (int i = 0; i < 40; ++i) CHECK(server.ask() == "OK\n");
  CHECK(threads < 20);
}

TEST_CASE("who sees the end of a connection finds its place free", "[serve]") {
  for (const int spare : {0, 1, 4}) {
    CAPTURE(spare);
    const Running server(
        spare, [] { return std::make_unique<AnswersInThreads>(); }, 1);
    for (int i = 0; i < 200; ++i) REQUIRE(server.ask() == "OK\n");
  }
}

TEST_CASE("the next thread waits while eight are ending", "[serve]") {
  constexpr int kClients = 20;
  std::atomic<int> made = 0;
  std::atomic<int> answered = 0;
  std::atomic<bool> may_end = false;
  const Running server(0, [&] {
    ++made;
    return std::make_unique<EndsLate>(may_end);
  });
  std::thread clients([&] {
    for (int i = 0; i < kClients; ++i) answered += server.ask() == "OK\n" ? 1 : 0;
  });
  while (answered < 9) std::this_thread::yield();
  std::this_thread::sleep_for(std::chrono::milliseconds(20));  // for a further one to come
  CHECK(answered == 9);
  may_end = true;
  may_end.notify_all();
  clients.join();
  CHECK(answered == kClients);
  CHECK(made == kClients);
}

TEST_CASE("a thread that finds no memory for its worker looks again for the next connection",
          "[serve]") {
  std::atomic<int> failures = 3;
  const Running server(1, [&]() -> std::unique_ptr<serve::Worker> {
    if (failures.fetch_sub(1) > 0) throw std::bad_alloc();
    return std::make_unique<AnswersInThreads>();
  });
  CHECK(server.ask().starts_with("ERR busy "));
  CHECK(server.ask() == "OK\n");
}

TEST_CASE("without spare threads, a connection for which there is no memory is told busy",
          "[serve]") {
  std::atomic<int> failures = 1;
  const Running server(0, [&]() -> std::unique_ptr<serve::Worker> {
    if (failures.fetch_sub(1) > 0) throw std::bad_alloc();
    return std::make_unique<AnswersInThreads>();
  });
  CHECK(server.ask().starts_with("ERR busy "));
  CHECK(server.ask() == "OK\n");
}

TEST_CASE("a worker that throws ends its connection, and the server goes on", "[serve]") {
  class Throws : public serve::Worker {
   public:
    void serve(serve::Stream& stream) override {
      stream.send(std::string_view("before "));
      throw std::bad_alloc();
    }
  };
  for (const int spare : {0, 2}) {
    CAPTURE(spare);
    const Running server(spare, [] { return std::make_unique<Throws>(); });
    for (int i = 0; i < 3; ++i) CHECK(server.ask().starts_with("before"));
  }
}

// Sending asserts that no exception is being handled. So this also shows where the answer is sent.
TEST_CASE("a worker of lines that throws answers internal behind the replies that wait",
          "[serve]") {
  class ThrowsAtTheSecondLine : public serve::LineWorker {
   private:
    void converse(serve::LineConversation& connection) override {
      connection.next_line();
      connection.reply_ok();
      throw std::bad_alloc();
    }
  };
  for (const int spare : {0, 2}) {
    CAPTURE(spare);
    const Running server(spare, [] { return std::make_unique<ThrowsAtTheSecondLine>(); });
    for (int i = 0; i < 3; ++i) CHECK(server.ask() == "OK\nERR internal internal error\n");
  }
}

TEST_CASE("each front of a server speaks its own language", "[serve]") {
  for (const int spare : {0, 2}) {
    CAPTURE(spare);
    const Running server(
        spare, [] { return std::make_unique<AnswersInThreads>(); }, 4096, true);
    for (int i = 0; i < 20; ++i) {
      CHECK(server.ask() == "OK\n");
      CHECK(server.ask_second() == "hello\n");
    }
  }
}

TEST_CASE("the connections of all fronts count together, and each is refused in its language",
          "[serve]") {
  for (const int spare : {0, 2}) {
    CAPTURE(spare);
    const Running server(
        spare, [] { return std::make_unique<AnswersInThreads>(); }, 1, true);
    net::Fd held = server.connect();
    REQUIRE(net::send_all(held.get(), "ping\n"));
    std::array<char, 64> buffer;
    REQUIRE(net::receive(held.get(), buffer) == 3);
    CHECK(server.ask_second() == "full\n");
    CHECK(server.ask().starts_with("ERR busy "));
    ::shutdown(held.get(), SHUT_WR);
    REQUIRE(net::receive(held.get(), buffer) == 0);
    CHECK(server.ask_second() == "hello\n");
  }
}
