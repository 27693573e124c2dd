#include <signal.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <fstream>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "serve/child.h"
#include "serve/line_conversation.h"
#include "serve/servers.h"
#include "serve/shared_memory.h"
#include "telemetry/board.h"
#include "tests/catch.h"
#include "tests/lib/serve/server_process.h"

using namespace tests;

namespace {

class AnswersOk : public serve::LineWorker {
 private:
  void converse(serve::LineConversation& connection) override {
    while (connection.next_line()) connection.reply_ok();
  }
};

std::unique_ptr<serve::Worker> answers_ok() { return std::make_unique<AnswersOk>(); }

// Tells when it is made and when its process is done.
class Reports : public AnswersOk {
 public:
  Reports(const Bytes& made, const Bytes& ended) : ended_(ended) { made.write(); }
  ~Reports() override { ended_.write(); }

 private:
  const Bytes& ended_;
};

serve::Options options_of(int spare, int max_connections = 4096) {
  serve::Options options;
  options.model = serve::Model::kProcess;
  options.spare = spare;
  options.max_connections = max_connections;
  return options;
}

void with_processes(serve::Front front, const serve::Options& options) {
  serve::serve_with_processes(serve::only(std::move(front)), options);
}

void with_threads(serve::Front front, const serve::Options& options) {
  serve::serve_with_threads(serve::only(std::move(front)), options);
}

bool is_busy(const std::string& reply) { return reply.starts_with("ERR busy "); }

// The letter that /proc shows.
char state_of(pid_t pid) {
  std::ifstream file("/proc/" + std::to_string(pid) + "/stat");
  std::string text;
  std::getline(file, text);
  const std::size_t name_end = text.rfind(") ");
  return name_end == std::string::npos ? '\0' : text[name_end + 2];
}

void wait_for_state(pid_t pid, char state) {
  while (state_of(pid) != state) base::pause_ms(1);
}

}  // namespace

TEST_CASE("a spare child that could not be forked does not count as one that waits", "[serve]") {
  const ServerProcess server(&with_processes, &answers_ok, options_of(1), true);
  for (int i = 0; i < 3; ++i) CHECK(is_busy(server.ask()));
  server.allow_to_fork(true);
  std::string reply;
  do reply = server.ask();
  while (is_busy(reply));
  CHECK(reply == "OK\n");
}

TEST_CASE("a child is forked as soon as that works again, and not with the next connection",
          "[serve]") {
  const Bytes made, ended;
  const ServerProcess server(
      &with_processes, [&] { return std::make_unique<Reports>(made, ended); }, options_of(1), true);
  CHECK(is_busy(server.ask()));
  wait_for_state(server.pid(), 'S');
  server.allow_to_fork(true);
  CHECK(made.next() == '.');
  CHECK(server.ask() == "OK\n");
}

TEST_CASE("a connection for which nothing could be started leaves its place, without spare ones",
          "[serve]") {
  for (const bool has_threads : {false, true}) {
    const ServerProcess server(has_threads ? &with_threads : &with_processes, &answers_ok,
                               options_of(0, 1), !has_threads);
    if (has_threads) {  // the thread that accepts is started, and the place is free behind the end
      const net::Fd first = server.connect();
      CHECK(ServerProcess::reply_on(first) == "OK\n");
      ::shutdown(first.get(), SHUT_WR);
      CHECK(ServerProcess::received_on(first).empty());
      server.allow_to_fork(false);
    }
    for (int i = 0; i < 2; ++i) CHECK(is_busy(server.ask()));
    server.allow_to_fork(true);
    CHECK(server.ask() == "OK\n");
  }
}

TEST_CASE("a child that ends because enough others wait does not count as one of them", "[serve]") {
  const Bytes made, ended;
  const ServerProcess server(
      &with_processes, [&] { return std::make_unique<Reports>(made, ended); }, options_of(1));
  {
    const net::Fd first = server.connect();
    CHECK(ServerProcess::reply_on(first) == "OK\n");
    const net::Fd second = server.connect();
    CHECK(ServerProcess::reply_on(second) == "OK\n");
    for (int i = 0; i < 3; ++i) CHECK(made.next() == '.');  // a third child waits
  }
  for (int i = 0; i < 2; ++i) CHECK(ended.next() == '.');
  const net::Fd third = server.connect();
  CHECK(ServerProcess::reply_on(third) == "OK\n");
  CHECK(server.ask() == "OK\n");
}

TEST_CASE("a child that was killed owns no counters any more", "[serve]") {
  telemetry::Board board(serve::most_workers(options_of(0, 4)));
  serve::Options options = options_of(0, 4);
  options.counters = &board;
  const ServerProcess server(&with_processes, &answers_ok, options);
  const net::Fd connection = server.connect();
  CHECK(ServerProcess::reply_on(connection) == "OK\n");
  std::vector<pid_t> children = board.owners();
  std::erase(children, server.pid());
  REQUIRE(children.size() == 1);
  REQUIRE(::kill(children.front(), SIGKILL) == 0);
  CHECK(ServerProcess::received_on(connection).empty());
  const auto deadline = base::Deadline::in_ms(kLongMs);
  while (board.owners().size() > 1 && !deadline.has_passed()) base::pause_ms(1);
  CHECK(board.owners() == std::vector<pid_t>{server.pid()});
}

namespace {

// Makes a child that the server does not know, which ends when all writers of `end` are closed.
pid_t fork_stranger(Bytes& end) {
  const pid_t pid = ::fork();
  end.close_writer();
  if (pid != 0) return pid;
  end.next();
  ::_exit(0);
}

}  // namespace

TEST_CASE("the server is told of the end of a child that it did not make", "[serve]") {
  for (const int spare : {0, 1}) {
    Bytes end;
    const Bytes told;
    const ServerProcess server(&with_processes, &answers_ok, options_of(spare), false,
                               [&](serve::Options& options, int) {
                                 fork_stranger(end);
                                 end.close_writer();
                                 options.other_child_ended = [&](pid_t) { told.write(); };
                               });
    CHECK(server.ask() == "OK\n");
    end.close_writer();
    CHECK(told.next() == '.');
  }
}

// Another process may accept from the same listener. Here that happens between poll() and accept():
// the server is told of a child in between.
TEST_CASE("a connection that is gone before it is accepted does not hold up the server",
          "[serve][no-threads]") {
  Bytes end;
  const Bytes told;
  const serve::Shared<std::atomic<pid_t>> stranger(std::in_place, 0);
  ServerProcess server(&with_processes, &answers_ok, options_of(0), false,
                       [&](serve::Options& options, int listener) {
                         *stranger = fork_stranger(end);
                         options.other_child_ended = [&told, listener](pid_t) {
                           ::close(::accept4(listener, nullptr, nullptr, SOCK_CLOEXEC));
                           told.write();
                         };
                       });
  CHECK(server.ask() == "OK\n");
  ::kill(server.pid(), SIGSTOP);
  wait_for_state(server.pid(), 'T');
  const net::Fd gone = server.connect();
  end.close_writer();
  wait_for_state(*stranger, 'Z');
  ::kill(server.pid(), SIGCONT);
  CHECK(told.next() == '.');
  CHECK(ServerProcess::received_on(gone).empty());
  CHECK(server.stops());
}

TEST_CASE("a child whose parent died before it could be told of that ends at once", "[serve]") {
  const pid_t child = ::fork();
  if (child == 0) {
    serve::hold_drain_signal();
    serve::Acceptor acceptor(std::move(*net::listen_on({"127.0.0.1", 0}, 0)));
    const serve::Scoreboard scoreboard;
    serve::become_child(acceptor, scoreboard, ::getpid());  // any but its parent
    acceptor.next();
    ::_exit(0);
  }
  const bool has_ended = ends(child);
  if (!has_ended) {
    ::kill(child, SIGKILL);
    ::waitpid(child, nullptr, 0);
  }
  CHECK(has_ended);
}

namespace {

// When its connection is over, it opens sockets, one of which has the same number, and says whether
// all can still be read once the server drains.
class UsesTheNumberAgain : public AnswersOk {
 public:
  UsesTheNumberAgain(const Bytes& ready, const Bytes& result) : ready_(ready), result_(result) {}
  ~UsesTheNumberAgain() override {
    std::array<std::array<int, 2>, 8> pairs{};
    for (auto& pair : pairs) {
      if (::socketpair(AF_UNIX, SOCK_STREAM, 0, pair.data()) != 0) ::abort();
    }
    wait_for_drain();
    const bool are_open = std::ranges::all_of(pairs, [](const auto& pair) {
      return passes(pair[0], pair[1]) && passes(pair[1], pair[0]);
    });
    result_.write(are_open ? 'y' : 'n');
  }

 private:
  void wait_for_drain() const {
    sigset_t drain;
    sigset_t none;
    ::sigemptyset(&none);
    ::sigemptyset(&drain);
    ::sigaddset(&drain, serve::kDrainSignal);
    ::sigprocmask(SIG_BLOCK, &drain, nullptr);
    ready_.write();
    ::sigsuspend(&none);
  }
  static bool passes(int from, int to) {
    char byte = '.';
    return ::send(from, &byte, 1, MSG_NOSIGNAL) == 1 && ::recv(to, &byte, 1, MSG_DONTWAIT) == 1;
  }

  const Bytes& ready_;
  const Bytes& result_;
};

}  // namespace

TEST_CASE("a drain shuts down no descriptor that has the number of a connection that is over",
          "[serve]") {
  const Bytes ready, result;
  ServerProcess server(
      &with_processes, [&] { return std::make_unique<UsesTheNumberAgain>(ready, result); },
      options_of(0));
  CHECK(server.ask() == "OK\n");
  REQUIRE(ready.next() == '.');
  CHECK(server.stops());
  CHECK(result.next() == 'y');
}
