// The three models of a server: one thread, one process, or one of a few loops owns a connection
// from accept to close.
//
// With spare threads (or processes), many of them wait in accept on the one listener, and the
// kernel wakes exactly one for a connection; nothing is handed over. If that leaves none waiting,
// one more is started. After a connection, it waits again, or ends if enough others wait.
//
// Without spare ones, the server accepts in one place and starts a thread or a process for each
// connection, as the paper does.
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "net/listen.h"
#include "serve/options.h"

namespace serve {

// The answer of a server of lines to a connection over --max-connections.
std::string busy_line();

struct Arrival;
struct Encryption;

// What clients connect to, and what they speak there.
struct Front {
  net::Listener listener;
  MakeWorker make_worker;
  std::string (*busy_answer)() = &busy_line;  // to a connection over --max-connections
  const Encryption* encryption = nullptr;     // null: what is spoken is not encrypted

  // If it is set: may take such a connection. Returns false if the one that it leaves in the
  // argument, the same or another one, is to be refused. Never waits. Threads: any.
  std::function<bool(Arrival&)> take_beyond_limit = {};
};

// A list of one front.
std::vector<Front> only(Front front);

// All serve until SIGTERM or SIGINT, then drain: no new connection is accepted, the requests under
// way are finished, and after options.drain_ms the remaining connections are cut. They return true
// when that is over, and false at once, after logging the reason, if they cannot start.
//
// Requires: base::hold_stop_signals() was called before the first thread was started. `make_worker`
// is called in the thread or process that the worker belongs to.

// The connections of all fronts count together for --max-connections. Each front has its own spare
// threads. If a thread does not return even after its connection was cut, options.before_exit is
// called, and the process exits successfully. Requires: fronts.size() == options.fronts.
bool serve_with_threads(std::vector<Front> fronts, const Options& options);

// Returns in the parent only. The parent has one thread and forks; it never makes a worker. If it
// dies, the children finish their requests and end. The connections of all fronts count together,
// and each front has its own spare processes.
//
// Requires: this process has no other thread, and fronts.size() == options.fronts.
bool serve_with_processes(std::vector<Front> fronts, const Options& options);

// Some threads, options.loops of them, own all connections. An idle one has neither a thread nor a
// stack. Requires: as serve_with_threads().
bool serve_with_events(std::vector<Front> fronts, const Options& options);

// One of the three, as options.model says.
bool serve(std::vector<Front> fronts, const Options& options);

}  // namespace serve
