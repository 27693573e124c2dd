// The connection of one store to Redis: made with the first command, and again when it was lost.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "authserver/stores/redis_connection.h"
#include "authserver/stores/redis_options.h"
#include "authserver/stores/redis_sentinels.h"
#include "authserver/stores/retry.h"
#include "base/clock.h"
#include "base/result.h"
#include "net/resolved_name.h"

namespace authserver {

// One thread. With sentinels it connects to the server that they call the primary, provided that
// it says so itself.
class RedisLink {
 public:
  using Words = RedisConnection::Words;
  using Reply = RedisConnection::Reply;

  // All that is borrowed must outlive it. Does not connect yet. With `sentinels`, which may be
  // null, the host is not used.
  RedisLink(const RedisOptions& options, net::ResolvedName& host, RedisSentinels* sentinels,
            std::int64_t timeout_ms)
      : options_(options), host_(host), sentinels_(sentinels), timeout_ms_(timeout_ms) {}

  bool is_connected() const { return connection_.is_open(); }

  // Closes a kept connection that the server has closed meanwhile, or that has bytes waiting which
  // nobody asked for. Nothing is pending on it, so it may be replaced.
  void close_if_stale() { connection_.close_if_stale(); }

  void close() { connection_.close(); }

  // Sends one command and waits for its reply, for as long as the time-out. Connects first if need
  // be. An error reply of the server is an Error here (answered_error()).
  base::Result<Reply> ask(Words words);

  // Sends one command for each of `keys`, such as GET, together, and returns their replies in the
  // same order. All of them must have come within the time-out. The outer error is that of the
  // connection: then no reply can be relied on, and the connection is closed.
  base::Result<std::vector<base::Result<Reply>>> ask_for_each(std::string_view command,
                                                              std::span<const std::string> keys);

  // How many replicas have acknowledged all that this connection has changed. Waits until `least`
  // have, but not beyond the deadline. Requires: the last change succeeded, on this connection.
  base::Result<std::int64_t> replicas_with_changes(int least, base::Deadline deadline);

  // Whether the last command failed because the server is not the primary any more, and the
  // sentinels may know another one. The server has refused it, so nothing has happened. The
  // connection is closed, and the next command asks for the primary.
  bool was_refused_by_replica() const { return was_refused_by_replica_; }

  // Asks the sentinels for the primary again before the next command. The server answers, but may
  // have lost its replicas to another one.
  void doubt_primary() { is_primary_in_doubt_ = sentinels_ != nullptr; }

 private:
  base::Status connect_if_need_be();
  base::Status connect();
  base::Status connect_to_host(base::Deadline deadline);
  base::Status connect_to_primary(base::Deadline deadline);
  base::Status connect_as_told_by(std::size_t sentinel, base::Deadline deadline);
  base::Status log_in(base::Deadline deadline);
  base::Status check_role(const net::HostPort& server, base::Deadline deadline);
  void learn_from(const base::Error& refusal);

  const RedisOptions& options_;
  net::ResolvedName& host_;
  RedisSentinels* const sentinels_;
  const std::int64_t timeout_ms_;
  RedisConnection connection_;
  bool was_refused_by_replica_ = false;
  bool is_primary_in_doubt_ = false;
  Backoff backoff_;
};

}  // namespace authserver
