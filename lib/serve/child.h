// What a child process does in the process model (serve_with_processes).
#pragma once

#include <atomic>
#include <span>

#include "serve/acceptor.h"
#include "serve/encrypted.h"
#include "serve/entrance.h"
#include "serve/one_connection.h"
#include "serve/options.h"
#include "serve/places.h"

namespace serve {

// Counters that the parent and its children share. `serving` counts the children that own a
// connection. The parent sets `is_draining` before it sends kDrainSignal.
struct Scoreboard {
  std::atomic<bool> is_draining = false;
  std::atomic<int> serving = 0;
  std::atomic<bool> is_short = false;  // of memory or descriptors; only decides what is logged
  Totals totals;
  AddressShares shares;
};

// The state of one child. If the child is killed, the parent uses it to correct the scoreboard.
enum class ChildState : int { kWaiting, kServing, kDone };

// What a child works with. The references must outlive the child.
struct ChildPlace {
  std::size_t number;  // no other living child has it
  Entrance& entrance;  // where it accepts
  Scoreboard& scoreboard;
  std::atomic<int>& waiting;  // how many children are in accept there, or on their way to it
  std::atomic<ChildState>& state;
  std::span<Place> places;   // of all children; that of this one has its number
  int parent_event;          // an eventfd, written when no child waits any more, or one gives way
  HandshakeNote& handshake;  // of its connection
};

// Blocks kDrainSignal in the parent, before the first fork. So a child cannot receive it before its
// handler is installed.
void hold_drain_signal();

// Called in a child right after fork(). From now on kDrainSignal ends the conversation after the
// request under way. The parent sends it; the kernel sends it if the parent dies. SIGTERM and
// SIGINT are ignored, because the parent handles them. The references must outlive the child.
void become_child(Acceptor& acceptor, const Scoreboard& scoreboard, pid_t parent);

// The signal by which the parent tells a child to finish, or to end a connection that gives way. A
// child ignores it if anybody else sends it, which shows in the scoreboard and in its place.
extern const int kDrainSignal;

// The life of a spare child: serves connections until enough others wait, or until it is told to
// finish.
void accept_and_serve(const Options& options, ChildPlace place);

// The life of a child without spare processes: serves one connection, as in the paper.
void serve_and_end(Arrival arrival, const Options& options, ChildPlace place);

}  // namespace serve
