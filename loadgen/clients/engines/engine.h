// How a thread that has many users waits for bytes of their connections.
#pragma once

#include <poll.h>

#include <cstdint>
#include <memory>
#include <vector>

#include "base/result.h"
#include "loadgen/config/crowd.h"

namespace loadgen {

// One engine for each thread. Users are numbers from 0 to the number of users of the thread - 1,
// and each has at most one connection.
//
// A connection is watched in one of two ways. One that is armed is reported once, and then has to
// be armed again. So a user that waits for its next moment to read is not woken by bytes that
// arrive meanwhile, except by the signals of kSigio, which the system sends in any case. One whose
// changes are watched is reported whenever bytes have come, or there is room to send again; arming
// it would be a call more for each request. Who watches changes must receive until there is
// nothing left, or bytes that are left are not reported again.
//
// One thread: that which opened it.
class Engine {
 public:
  Engine() = default;
  virtual ~Engine() = default;
  Engine(const Engine&) = delete;
  Engine& operator=(const Engine&) = delete;

  // A new connection of the user. Borrows `fd` until forget().
  virtual base::Status watch(std::uint32_t user, int fd) = 0;

  // The same, for a connection whose changes are watched. Only kEpoll can.
  virtual base::Status watch_changes(std::uint32_t user, int fd);

  // Whether a report of this connection, whose changes are watched, has told that its peer sends
  // nothing more, or that it has failed.
  virtual bool has_ended(std::uint32_t /*user*/) const { return false; }

  // Reports the user when its connection is ready for one of `events` (POLLIN, POLLOUT), or is
  // ready already, or has failed. Requires: watch() was called.
  virtual base::Status arm(std::uint32_t user, short events) = 0;

  // The connection is closed after this call. The user may be reported once more.
  virtual void forget(std::uint32_t user) = 0;

  // Waits until at least one user can be reported, at most `at_most_ns`, and appends them to
  // `ready`.
  virtual base::Status wait(std::int64_t at_most_ns, std::vector<std::uint32_t>& ready) = 0;

  // Times that the queue of signals overflowed, and poll() was called instead.
  virtual std::uint64_t overflows() const { return 0; }
};

// Called in the thread that uses it. Fails with a line that says what the system refuses.
base::Result<std::unique_ptr<Engine>> open_engine(crowd::EngineKind kind, std::uint32_t users);

// Bounds the signals that wait for this process (and others of the same user), for kSigio.
base::Status limit_signal_queue(int signals);

}  // namespace loadgen
