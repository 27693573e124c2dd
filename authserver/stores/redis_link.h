// One connection to Redis. Only these files and redis_store.cpp include the client library.
#pragma once

#include <hiredis/hiredis.h>

#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "authserver/stores/redis_options.h"
#include "authserver/stores/retry.h"
#include "base/clock.h"
#include "base/result.h"
#include "net/fd.h"
#include "net/resolved_name.h"

namespace authserver {

// One thread. Connects with the first command, and again after the connection was lost. Closes the
// connection after a time-out, so that a late answer is never taken for the next one.
class RedisLink {
 public:
  // A command and its arguments. Each is sent as bytes with a length, so nothing needs quoting.
  using Words = std::initializer_list<std::string_view>;

  struct FreeReply {
    void operator()(redisReply* reply) const { ::freeReplyObject(reply); }
  };
  using Reply = std::unique_ptr<redisReply, FreeReply>;

  // `options` and `host` must outlive it. Does not connect yet.
  RedisLink(const RedisOptions& options, net::ResolvedName& host, std::int64_t timeout_ms)
      : options_(options), host_(host), timeout_ms_(timeout_ms) {}

  bool is_connected() const { return context_ != nullptr; }

  // Closes a kept connection that the server has closed meanwhile, or that has bytes waiting which
  // nobody asked for. Nothing is pending on it, so it may be replaced.
  void close_if_stale();

  void close() { context_.reset(); }

  // The bytes of all replies to one call of ask() or ask_for_each(); more is an error, and the
  // connection is closed. 32 records have less than 10 KiB, and a page of names less than 32 KiB.
  static constexpr std::size_t kMostReplyBytes = std::size_t{64} * 1024;

  // Sends one command and waits for its reply. Connects first if need be. The
  // whole reply must have come within the time-out, however often the server sends a byte. An
  // error reply of the server is an Error here: kInternal for a command that it does not take, else
  // kUnavailable.
  base::Result<Reply> ask(Words words);

  // Sends one command for each of `keys`, such as GET, together, and returns their replies in the
  // same order. All of them must have come within the time-out. The outer error is that of the
  // connection: then no reply can be relied on, and the connection is closed.
  base::Result<std::vector<base::Result<Reply>>> ask_for_each(std::string_view command,
                                                              std::span<const std::string> keys);

 private:
  struct FreeContext {
    void operator()(redisContext* context) const { ::redisFree(context); }
  };
  base::Status connect_if_need_be();
  base::Status connect();
  base::Error lost_connection();
  base::Error give_up(const char* reason);
  base::Status send(std::string_view commands);
  base::Result<Reply> next_reply(base::Deadline deadline, std::size_t& bytes_left);
  base::Status open_socket(base::Deadline deadline);
  base::Status take_over(net::Fd fd);
  base::Status log_in();

  const RedisOptions& options_;
  net::ResolvedName& host_;
  const std::int64_t timeout_ms_;
  std::unique_ptr<redisContext, FreeContext> context_;
  Backoff backoff_;
};

// The text of a string reply, borrowed from it.
inline std::string_view text_in(const redisReply& reply) { return {reply.str, reply.len}; }

}  // namespace authserver
