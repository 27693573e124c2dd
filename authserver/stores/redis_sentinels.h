// The sentinels of --redis-sentinel: they say which server is the primary now.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <deque>
#include <string>
#include <vector>

#include "authserver/stores/host_list.h"
#include "authserver/stores/redis_connection.h"
#include "authserver/stores/redis_options.h"
#include "base/clock.h"
#include "base/result.h"
#include "net/resolved_name.h"

namespace authserver {

// What the threads and processes of one authserver have learnt of the sentinels. It may be in
// shared memory.
struct SentinelsLearnt {
  PreferredAddress preferred;              // the sentinel that is asked first
  std::atomic<std::uint64_t> primary = 0;  // a hash of its address; 0: none was used yet
};

// Shared by all stores of one process. Any thread.
//
// A sentinel is trusted: the password is sent to the server that it names. What it says is bounded,
// and only a host with a port is accepted.
class RedisSentinels {
 public:
  // All but the resolver is borrowed and must outlive it. Looks no name up yet. Requires:
  // options.sentinels is not empty.
  RedisSentinels(const RedisOptions& options, net::ResolvedName::Resolver resolver,
                 SentinelsLearnt& learnt);

  std::size_t count() const { return hosts_.size(); }

  // Which one is asked first. Less than count().
  std::size_t first() const { return learnt_.preferred.first_of(count()); }

  // What this sentinel says: where the primary is. kUnavailable if it cannot be asked, does not
  // know a primary of this name, or names nothing that can be an address.
  base::Result<net::HostPort> ask_for_primary(std::size_t sentinel, base::Deadline deadline,
                                              std::int64_t timeout_ms);

  // The primary and its replicas, as all sentinels say that can be asked; some are there several
  // times. Empty if none can.
  std::vector<net::HostPort> ask_for_all_servers(base::Deadline deadline, std::int64_t timeout_ms);

  // Of a server that a sentinel has named, which may have been by its name.
  net::ResolvedName::Found addresses_of(const net::HostPort& server, base::Deadline deadline) const;

  // The primary that this sentinel named can be used. Asks it first from now on. Says in the log if
  // another primary was used before.
  void has_led_to(std::size_t sentinel, const net::HostPort& primary);

 private:
  base::Status open(RedisConnection& connection, std::size_t sentinel, base::Deadline deadline,
                    std::int64_t timeout_ms);
  base::Result<RedisConnection::Reply> ask(RedisConnection& connection,
                                           RedisConnection::Words words,
                                           base::Deadline deadline) const;
  base::Error failed(std::size_t sentinel, std::string_view why) const;

  const RedisOptions& options_;
  const net::ResolvedName::Resolver resolver_;
  SentinelsLearnt& learnt_;
  std::deque<net::ResolvedName> hosts_;  // a deque does not move its elements
};

// "HOST:PORT,HOST:PORT". Empty if one of them is not an address with a port.
std::vector<net::HostPort> parse_sentinels(std::string_view text);

std::string to_string(const std::vector<net::HostPort>& sentinels);

}  // namespace authserver
