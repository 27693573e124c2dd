// One connection to a server that speaks the protocol of Redis: to Redis itself, or to a sentinel.
// Only these files, redis_link, redis_sentinels and redis_store.cpp include the client library.
#pragma once

#include <hiredis/hiredis.h>

#include <cstddef>
#include <cstdint>
#include <initializer_list>
#include <memory>
#include <span>
#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "net/address.h"
#include "tls/client_context.h"
#include "tls/socket.h"

namespace authserver {

// How a connection is encrypted, and the name or address that must stand in the server's
// certificate.
struct RedisEncryption {
  tls::ClientContext* context = nullptr;  // null: it is not
  std::string name = {};
};

// One thread. Closes the connection after a time-out, so that a late answer is never taken for the
// next one. Every error begins with "redis: ".
class RedisConnection {
 public:
  // A command and its arguments. Each is sent as bytes with a length, so nothing needs quoting.
  using Words = std::initializer_list<std::string_view>;

  struct FreeReply {
    void operator()(redisReply* reply) const { ::freeReplyObject(reply); }
  };
  using Reply = std::unique_ptr<redisReply, FreeReply>;

  // The bytes of all replies that are read together; more is an error, and the connection is
  // closed. 32 records have less than 10 KiB, and a page of names less than 32 KiB.
  static constexpr std::size_t kMostReplyBytes = std::size_t{64} * 1024;

  bool is_open() const { return socket_.is_open(); }

  // Connects to the first of the addresses that works. Each gets an equal share of the time until
  // the deadline. No blocking call on the connection sleeps longer than `timeout_ms`.
  base::Status open(std::span<const net::SocketAddress> addresses, base::Deadline deadline,
                    std::int64_t timeout_ms, const RedisEncryption& encryption = {});

  void close();

  // Closes a connection that the server has closed, or that has bytes waiting which nobody asked
  // for. Nothing is pending on it, so it may be replaced.
  void close_if_stale();

  // Sends one command and waits for its reply. The whole reply must have come before the deadline,
  // however often the server sends a byte. An error reply of the server is an Error here, as
  // answered_error() makes it. Requires: is_open().
  base::Result<Reply> ask(Words words, base::Deadline deadline);

  // The two halves of ask(), for several commands at once. An error reply is a reply here. Require:
  // is_open(), and of next_reply(), that a command was sent for each reply.
  base::Status send(std::string_view commands);
  base::Result<Reply> next_reply(base::Deadline deadline, std::size_t& bytes_left);

 private:
  struct FreeReader {
    void operator()(redisReader* reader) const { ::redisReaderFree(reader); }
  };
  base::Status take_over(tls::Socket socket);
  base::Status receive(base::Deadline deadline, std::size_t& bytes_left);
  base::Error give_up(std::string reason);

  tls::Socket socket_;
  std::unique_ptr<redisReader, FreeReader> reader_;  // of what was received; null: none is open
};

// A command as Redis reads it: the number of words, then each behind its length.
std::string redis_command_of(RedisConnection::Words words);

// kInternal for a command that the server does not take, else kUnavailable.
base::Error answered_error(const redisReply& reply);

// The text of a string reply, borrowed from it.
inline std::string_view text_in(const redisReply& reply) { return {reply.str, reply.len}; }

}  // namespace authserver
