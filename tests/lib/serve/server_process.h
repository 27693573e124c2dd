// A server in a process of its own, which a test can keep from making processes and threads.
#pragma once

#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include <array>
#include <functional>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/stop_signals.h"
#include "net/connect.h"
#include "net/listen.h"
#include "net/socket_io.h"
#include "serve/servers.h"
#include "tests/catch.h"

namespace tests {

constexpr int kLongMs = 60'000;

// A pipe between the test and its processes, for single bytes.
class Bytes {
 public:
  Bytes() { REQUIRE(::pipe2(ends_.data(), O_CLOEXEC) == 0); }
  ~Bytes() {
    close_writer();
    ::close(ends_[0]);
  }
  Bytes(const Bytes&) = delete;
  Bytes& operator=(const Bytes&) = delete;

  void write(char byte = '.') const {
    if (::write(ends_[1], &byte, 1) != 1) ::abort();
  }
  void close_writer() {
    if (ends_[1] >= 0) ::close(std::exchange(ends_[1], -1));
  }

  // The next byte. 0 if there is none after a long time, or when all writers are closed.
  char next() const {
    pollfd event = {ends_[0], POLLIN, 0};
    char byte = 0;
    if (::poll(&event, 1, kLongMs) <= 0 || ::read(ends_[0], &byte, 1) != 1) return 0;
    return byte;
  }

 private:
  std::array<int, 2> ends_{};
};

// Whether it ends before a long time has passed.
inline bool ends(pid_t pid) {
  const auto deadline = base::Deadline::in_ms(kLongMs);
  while (!deadline.has_passed()) {
    if (::waitpid(pid, nullptr, WNOHANG) == pid) return true;
    base::pause_ms(1);
  }
  return false;
}

// No limit holds for root. So what is limited runs as somebody else.
inline void become_nobody() {
  constexpr uid_t kNobody = 65534;
  if (::geteuid() == 0 && ::setuid(kNobody) != 0) ::abort();
}

// Whether `pid` may make processes and threads; 0: this process. The soft limit can be raised
// again.
inline bool allow_processes(pid_t pid, bool is_allowed) {
  rlimit limit{};
  if (::prlimit(pid, RLIMIT_NPROC, nullptr, &limit) != 0) return false;
  limit.rlim_cur = is_allowed ? limit.rlim_max : 0;
  return ::prlimit(pid, RLIMIT_NPROC, &limit, nullptr) == 0;
}

class ServerProcess {
 public:
  using Run = std::function<void(serve::Front, const serve::Options&)>;

  // `prepare` is called in the new process, and the server may not make processes then if
  // `is_short`.
  ServerProcess(
      Run run, serve::MakeWorker make_worker, serve::Options options, bool is_short = false,
      const std::function<void(serve::Options&, int listener)>& prepare = [](auto&, int) {})
      : listener_(std::move(*net::listen_on({"127.0.0.1", 0}, 0))),
        address_(net::resolve(listener_.address)->front()),
        pid_(::fork()) {
    ::setpgid(pid_, pid_ == 0 ? 0 : pid_);  // both do it, so that it is done in time for each
    if (pid_ != 0) return;
    base::hold_stop_signals();
    become_nobody();
    prepare(options, listener_.fd.get());
    if (is_short && !allow_processes(0, false)) ::abort();
    run({std::move(listener_), std::move(make_worker)}, options);
    ::_exit(0);
  }
  // Its children too: with ThreadSanitizer, a child may sleep on when its parent is gone.
  ~ServerProcess() {
    if (has_ended_) return;
    ::kill(-pid_, SIGKILL);
    ::waitpid(pid_, nullptr, 0);
  }
  ServerProcess(const ServerProcess&) = delete;
  ServerProcess& operator=(const ServerProcess&) = delete;

  pid_t pid() const { return pid_; }
  net::Fd connect() const { return std::move(*net::connect_to(address_, kLongMs)); }
  std::string ask() const { return reply_on(connect()); }

  static std::string reply_on(const net::Fd& fd) {
    REQUIRE(net::send_all(fd.get(), "ping\n"));
    return received_on(fd);
  }
  static std::string received_on(const net::Fd& fd) {
    std::array<char, 100> reply;
    const ssize_t got = net::receive(fd.get(), reply);
    return {reply.data(), static_cast<std::size_t>(got > 0 ? got : 0)};
  }

  // Only a process of the same user may change the limit. Root of a container may not.
  void allow_to_fork(bool is_allowed) const {
    const pid_t helper = ::fork();
    if (helper == 0) {
      become_nobody();
      ::_exit(allow_processes(pid_, is_allowed) ? 0 : 1);
    }
    int status = 1;
    REQUIRE(::waitpid(helper, &status, 0) == helper);
    REQUIRE(status == 0);
  }

  // Whether the server ends after SIGTERM.
  bool stops() {
    ::kill(pid_, SIGTERM);
    return has_ended_ = ends(pid_);
  }

 private:
  net::Listener listener_;
  const net::SocketAddress address_;
  const pid_t pid_;
  bool has_ended_ = false;
};

}  // namespace tests
