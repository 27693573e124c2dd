// The client of one thread: it has one request under way at a time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "loadgen/clients/request.h"
#include "loadgen/figures/channels.h"
#include "loadgen/figures/exchange.h"
#include "loadgen/figures/handshakes.h"

namespace loadgen {

// Holds a request back when all was done that can be done before it asks for its file.
class Gate {
 public:
  Gate() = default;
  virtual ~Gate() = default;
  Gate(const Gate&) = delete;
  Gate& operator=(const Gate&) = delete;

  // Called at most once for each request, which goes on when this returns.
  virtual void wait() = 0;

  // Called after each wait(), when the request has asked for its file, or failed to. `asked_ns` is
  // the moment before that; returns the one at which the transfer is said to begin.
  virtual std::int64_t leave(std::int64_t asked_ns) = 0;
};

// One thread.
class ThreadClient {
 public:
  ThreadClient() = default;
  virtual ~ThreadClient() = default;
  ThreadClient(const ThreadClient&) = delete;
  ThreadClient& operator=(const ThreadClient&) = delete;

  // With keep-alive it connects, so that the first request does not have to; otherwise it does
  // nothing. A failure is not reported here, because the first request tries again.
  virtual void prepare() = 0;

  // Carries out one request and returns when it succeeded or failed. `request` must stay valid
  // until then.
  //
  // The time of the request starts with this call, and includes connecting, also with keep-alive. A
  // connection after which no further request can be sent is closed.
  //
  // Where a `gate` can be used, the client says so. It may be null.
  virtual Exchange carry_out(const Request& request, Gate* gate) = 0;

  // Why a file could not be saved. Once there is a reason, no further file is saved, so the run
  // should end.
  virtual const std::optional<std::string>& save_failure() const = 0;

  // How many connections were made so far, without those for data, and how many of them were made
  // because a kept one had ended.
  virtual std::uint64_t connections() const = 0;
  virtual std::uint64_t reconnects() const = 0;

  // Of a client with several connections for one file; otherwise null.
  virtual const ChannelTally* channels() const { return nullptr; }

  // Of a client whose connections are encrypted; otherwise null.
  virtual const HandshakeTally* handshakes() const { return nullptr; }

  // Closes all connections.
  virtual void hang_up() = 0;
};

}  // namespace loadgen
