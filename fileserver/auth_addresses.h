// Connects to the authserver, by any of the addresses that --auth stands for.
#pragma once

#include <functional>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "net/address.h"
#include "net/fd.h"

namespace fileserver {

// Any thread. The host name of --auth may have several addresses, each an authserver.
//
// Connections go round robin over all addresses. An address that fails is skipped for one second;
// then one caller tries it again. The name is resolved again every five seconds, and when all
// addresses fail. One caller resolves it, while the others use the old addresses.
class AuthAddresses {
 public:
  using Resolver =
      std::function<base::Result<std::vector<net::SocketAddress>>(const net::HostPort&)>;

  // Any thread may call `resolver`. Tests pass one of their own.
  explicit AuthAddresses(net::HostPort name, Resolver resolver = net::resolve);

  // Connects to one of the addresses. No blocking call on the new connection takes longer than
  // `timeout_ms`. kUnavailable when no address accepted before the deadline, or the name cannot be
  // resolved.
  base::Result<net::Fd> connect(std::int64_t timeout_ms, base::Deadline deadline);

 private:
  struct Known {
    net::SocketAddress address;
    std::int64_t skipped_until_ns = 0;  // 0: the last attempt succeeded, or there was none yet
  };
  std::vector<net::SocketAddress> in_order_of_trial() EXCLUDES(mutex_);
  void note_outcome(const net::SocketAddress& address, bool is_good) EXCLUDES(mutex_);
  void skip_until(const net::SocketAddress& address, std::int64_t until_ns) REQUIRES(mutex_);
  base::Status resolve_if_due() EXCLUDES(mutex_);

  // True for the one caller that has to resolve the name now. While no address is known, true for
  // every caller.
  bool must_resolve() EXCLUDES(mutex_);

  const net::HostPort name_;
  const bool is_numeric_;  // then it is resolved only once
  const Resolver resolver_;
  base::Mutex mutex_;
  std::vector<Known> known_ GUARDED_BY(mutex_);
  std::int64_t resolve_again_at_ns_ GUARDED_BY(mutex_) = 0;

  // While this is in the future, a caller is resolving the name.
  std::int64_t being_resolved_until_ns_ GUARDED_BY(mutex_) = 0;

  std::size_t next_ GUARDED_BY(mutex_) = 0;  // where the next round robin starts
};

}  // namespace fileserver
