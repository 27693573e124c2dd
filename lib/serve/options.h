// The settings that both servers have, and the worker that serves a connection.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>
#include <string>

#include "net/address.h"

namespace telemetry {
class Board;
}  // namespace telemetry

namespace serve {

class Stream;

// What a hijacked server could still reach: see guard/sandbox.h. kStrict is for the fileserver: it
// does not allow what following a served folder that is removed and made again would need.
enum class Sandbox { kOff, kOn, kStrict };

// What owns a connection: see servers.h.
enum class Model { kThread, kProcess, kEvent };

struct Options {
  Model model = Model::kThread;
  int max_connections = 4096;
  int spare = 0;   // idle threads or processes to keep; 0: one is started for each connection
  int loops = 0;   // of the event model; 0: one for each core
  int fronts = 1;  // each keeps its own idle threads
  std::int64_t idle_timeout_ms = 60'000;  // 0: no limit
  std::int64_t drain_ms = 5'000;
  std::int64_t min_rate = 0;   // bytes per second that a peer must take of a reply; 0: no limit
  bool is_debuggable = false;  // whether core dumps and debuggers may read the memory
  Sandbox sandbox = Sandbox::kOn;
  std::string user{};  // empty: the one who started the server

  // Finishes what must not be lost when the process exits while a thread still works.
  std::function<void()> before_exit = [] {};

  std::optional<net::HostPort> telemetry_listen{};  // nothing: no telemetry

  // Where workers count what they do; null: nowhere. It must outlive the server, and have a slot
  // for each of most_workers().
  telemetry::Board* counters = nullptr;

  // Only in the process model: the parent calls on_hangup() when SIGHUP comes, if `hangups` is from
  // base::open_hangup_signal(). -1: it does not.
  int hangups = -1;
  std::function<void()> on_hangup{};

  // Only in the process model: called when a child has ended that the server did not make.
  std::function<void(pid_t)> other_child_ended{};
};

// The threads of the event model.
int loops_of(const Options& options);

// How many workers there may be at once. In the event model: the loops. Else those that serve, and
// for each front those that wait, one that is just about to refuse, and the thread or process that
// accepts.
inline std::size_t most_workers(const Options& options) {
  if (options.model == Model::kEvent) return static_cast<std::size_t>(loops_of(options));
  return static_cast<std::size_t>(options.max_connections) +
         static_cast<std::size_t>(options.fronts) * static_cast<std::size_t>(options.spare + 2);
}

// How long one blocking call on a connection may sleep (0: no limit). After that the connection
// checks the clock, and whether the peer has taken bytes of a reply.
inline std::int64_t io_slice_ms(std::int64_t idle_timeout_ms) {
  return idle_timeout_ms == 0 ? 0 : (idle_timeout_ms + 3) / 4;
}

// Serves connections one after another. It belongs to one thread or process.
class Worker {
 public:
  virtual ~Worker() = default;

  // Returns when the conversation is over. A worker answers for its own failures, because only it
  // knows what its client would understand. If it throws, the connection ends without an answer.
  virtual void serve(Stream& stream) = 0;
};

// Makes a worker. It is called in the thread or process that the worker will belong to.
using MakeWorker = std::function<std::unique_ptr<Worker>()>;

}  // namespace serve
