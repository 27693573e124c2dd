// A loop in a thread of its own, and work for its contexts; two sockets that are connected.
#pragma once

#include <sys/socket.h>

#include <array>
#include <functional>
#include <latch>
#include <memory>
#include <thread>
#include <utility>
#include <vector>

#include "events/loop.h"
#include "net/fd.h"

namespace tests {

struct Pair {
  Pair() {
    std::array<int, 2> fds{};
    ::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0, fds.data());
    a = net::Fd(fds[0]);
    b = net::Fd(fds[1]);
  }
  net::Fd a, b;
};

class LoopThread {
 public:
  LoopThread() : loop(helpers), thread_([this] { loop.run(); }) {}
  ~LoopThread() {
    loop.post([this] { loop.stop(); });
    thread_.join();
  }

  // Begins work() in a context of the loop.
  void begin(std::function<void()> work) {
    loop.post([this, work = std::move(work)]() mutable { loop.start(*new Work(std::move(work))); });
  }

  // The same for several that begin in one turn, in this order. Returns when all have ended.
  void do_all(std::vector<std::function<void()>> works) {
    std::latch ended(static_cast<std::ptrdiff_t>(works.size()));
    loop.post([&] {
      for (auto& work : works) {
        loop.start(*new Work([&ended, &work] {
          work();
          ended.count_down();
        }));
      }
    });
    ended.wait();
  }
  void do_one(std::function<void()> work) { do_all({std::move(work)}); }

  events::Helpers helpers{1000};
  events::Loop loop;

 private:
  class Work final : public events::Task {
   public:
    explicit Work(std::function<void()> work) : work_(std::move(work)) {}
    void run() override {
      const std::unique_ptr<Work> self(this);
      work_();
    }

   private:
    std::function<void()> work_;
  };

  std::thread thread_;
};

}  // namespace tests
