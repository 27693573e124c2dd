// An authserver whose conversations a test writes itself.
#pragma once

#include <sys/socket.h>

#include <array>
#include <atomic>
#include <condition_variable>
#include <functional>
#include <mutex>
#include <optional>
#include <string>
#include <thread>
#include <utility>
#include <vector>

#include "net/fd.h"
#include "net/listen.h"
#include "net/socket_io.h"

namespace tests {

// Holds each conversation in a thread of its own. They end when the server goes.
class ScriptedAuthserver {
 public:
  // Its end of a connection.
  class Peer {
   public:
    explicit Peer(int fd) : fd_(fd) {}

    // The next line with its LF. Nothing at the end of the connection.
    std::optional<std::string> next_line() {
      std::size_t lf = 0;
      while ((lf = received_.find('\n')) == std::string::npos) {
        std::array<char, 4096> bytes;
        const ssize_t got = net::receive(fd_, bytes);
        if (got <= 0) return {};
        received_.append(bytes.data(), static_cast<std::size_t>(got));
      }
      const std::string line = received_.substr(0, lf + 1);
      received_.erase(0, lf + 1);
      return line;
    }
    bool send(std::string_view bytes) const { return net::send_all(fd_, bytes); }

   private:
    const int fd_;
    std::string received_;
  };
  using Conversation = std::function<void(Peer& peer)>;

  explicit ScriptedAuthserver(Conversation conversation)
      : conversation_(std::move(conversation)),
        listener_(std::move(*net::listen_on({"127.0.0.1", 0}, 0))),
        thread_([this] { run(); }) {}
  ~ScriptedAuthserver() {
    ::shutdown(listener_.fd.get(), SHUT_RD);
    thread_.join();
  }
  ScriptedAuthserver(const ScriptedAuthserver&) = delete;
  ScriptedAuthserver& operator=(const ScriptedAuthserver&) = delete;

  net::HostPort address() const { return listener_.address; }
  int connections() const { return connections_; }

 private:
  void run() {
    std::vector<std::pair<net::Fd, std::thread>> open;
    for (;;) {
      net::Accepted accepted = net::accept_from(listener_.fd.get());
      if (accepted.verdict == net::AcceptVerdict::kListenerGone) break;
      if (!accepted.fd.is_open()) continue;
      ++connections_;
      open.emplace_back(std::move(accepted.fd), std::thread());
      open.back().second = std::thread([this, fd = open.back().first.get()] {
        Peer peer(fd);
        conversation_(peer);
        ::shutdown(fd, SHUT_RDWR);
      });
    }
    for (auto& [fd, thread] : open) {
      ::shutdown(fd.get(), SHUT_RDWR);
      thread.join();
    }
  }

  const Conversation conversation_;
  const net::Listener listener_;
  std::atomic<int> connections_ = 0;
  std::thread thread_;
};

// The authserver's answers wait until the test opens the gate.
class Gate {
 public:
  // So that no answer waits for ever when the test ends early. It must end before what waits for
  // the answers.
  class OpenAtEnd {
   public:
    explicit OpenAtEnd(Gate& gate) : gate_(gate) {}
    ~OpenAtEnd() { gate_.set_open(true); }
    OpenAtEnd(const OpenAtEnd&) = delete;
    OpenAtEnd& operator=(const OpenAtEnd&) = delete;

   private:
    Gate& gate_;
  };

  void set_open(bool is_open) {
    const std::lock_guard lock(mutex_);
    is_open_ = is_open;
    changed_.notify_all();
  }
  void pass() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.wait(lock, [this] { return is_open_; });
    --waiting_;
  }
  int waiting() {
    const std::lock_guard lock(mutex_);
    return waiting_;
  }

 private:
  std::mutex mutex_;
  std::condition_variable changed_;
  bool is_open_ = true;
  int waiting_ = 0;
};

}  // namespace tests
