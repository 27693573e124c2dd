// Answers GET /metrics, /healthz and /livez on a listener of its own (--telemetry-listen).
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "base/mutex.h"
#include "base/result.h"
#include "net/fd.h"
#include "net/listen.h"

namespace telemetry {

// What a server tells about itself.
struct Source {
  // Asks what the server depends on, such as the authserver, whether it answers. Should take less
  // than kHealthMs: who waits longer is told that it does not. Called by one thread of its own.
  std::function<bool()> is_healthy;

  // The text of /metrics, after is_healthy() was asked. Called by the thread of Endpoint::run().
  std::function<std::string(bool is_healthy)> metrics;

  // Whether the server ends and takes no new connections. Then /healthz is 503, and /livez still
  // 200. Never waits. Called by the thread of Endpoint::run().
  std::function<bool()> is_draining = [] { return false; };

  // Of the requests that have these answers.
  std::string_view health_path = "/healthz";
  std::string_view life_path = "/livez";
  std::string_view metrics_path = "/metrics";

  // If it is set: the whole answer to any other request, and to a peer that sends none in time.
  std::function<std::string()> answer_others = {};

  std::int64_t read_ms = 5'000;  // for the whole head of a request
};

// How long an answer waits for is_healthy().
inline constexpr std::int64_t kHealthMs = 900;

// How many connections are open at once. A further one closes the oldest of them, so that slow
// clients keep nobody out.
inline constexpr std::size_t kMostConnections = 16;

// Binds a socket for Endpoint::run(). net::start_listening() must be called before that.
base::Result<net::Listener> bind_for_telemetry(const net::HostPort& address);

// Serves all connections in one thread. Each has a few seconds for its request and a few for its
// answer, and is closed after one answer. Neither threads nor connections count as those of the
// server.
class Endpoint {
 public:
  // Starts a thread, which calls source.is_healthy(). Throws std::exception if there are no
  // resources for that.
  Endpoint(net::Listener listener, Source source);
  ~Endpoint();
  Endpoint(const Endpoint&) = delete;
  Endpoint& operator=(const Endpoint&) = delete;

  // Serves until stop(). Called once.
  void run();

  // Threads: any.
  void stop();

  // Serves this connection too. If many wait for that already, it returns false, and `fd` is the
  // oldest of them, which will not be served. Never waits itself. Threads: any.
  bool take(net::Fd& fd) EXCLUDES(mutex_);

 private:
  class Loop;
  void ask_when_wanted();

  const net::Listener listener_;  // may be none
  const Source source_;
  const net::Fd wanted_;   // an eventfd: somebody waits for is_healthy()
  const net::Fd answer_;   // an eventfd: is_healthy() has answered
  const net::Fd stopped_;  // an eventfd: run() must return
  const net::Fd taken_;    // an eventfd: there is something in handed_over_
  base::Mutex mutex_;
  std::vector<net::Fd> handed_over_ GUARDED_BY(mutex_);
  std::atomic<bool> is_stopped_ = false;
  std::atomic<bool> is_healthy_ = false;
  std::thread asker_;
};

}  // namespace telemetry
