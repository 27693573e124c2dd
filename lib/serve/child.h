// The life of one child of the process model.
#pragma once

#include <atomic>

#include "net/fd.h"
#include "serve/acceptor.h"
#include "serve/one_connection.h"
#include "serve/options.h"

namespace serve {

// What parent and children share. A child is in `waiting` while it is in accept, or on its way
// there, and in `serving` while it owns a connection.
struct Scoreboard {
  std::atomic<int> waiting = 0;
  std::atomic<int> serving = 0;
  Totals totals;
};

// Where one child is, so that the parent can put the scoreboard right when the child was killed.
enum class ChildState : int { kWaiting, kServing, kDone };

struct ChildPlace {
  Scoreboard& scoreboard;
  std::atomic<ChildState>& state;
  int nobody_waits_event;  // an eventfd: written when the last waiting child has taken a connection
};

// In the parent, before the first fork: a child is not to be hit before it can handle it.
void hold_drain_signal();

// In a child right after fork: from now on the parent's kDrainSignal, or its death, ends the
// conversation after the request under way. The terminal's and the system's stop signals are left
// to the parent.
void become_child(Acceptor& acceptor, pid_t parent);

// What the parent sends to a child that shall finish.
extern const int kDrainSignal;

// With spare processes: serves connections until enough others wait, or it shall finish.
void accept_and_serve(Acceptor& acceptor, const Options& options, const MakeWorker& make_worker,
                      ChildPlace place);

// The paper's way: one connection.
void serve_and_end(net::Fd fd, const Options& options, const MakeWorker& make_worker,
                   Totals& totals);

}  // namespace serve
