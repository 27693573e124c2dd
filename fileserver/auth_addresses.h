// Connects to the authserver, by any of the addresses that --auth stands for.
#pragma once

#include <functional>
#include <future>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "net/address.h"
#include "net/fd.h"

namespace fileserver {

// Any thread. The host name of --auth may have several addresses, each an authserver.
//
// Connections go round robin over all addresses. An address that fails, or accepts but does not
// answer, is skipped for one second; then one caller tries it again. The name is resolved again
// every five seconds, and when all addresses fail. A thread of its own resolves it; callers use the
// old addresses meanwhile.
class AuthAddresses {
 public:
  using Resolver =
      std::function<base::Result<std::vector<net::SocketAddress>>(const net::HostPort&)>;

  // `resolver` is called in a thread of its own, which may outlive this object. Tests pass one of
  // their own.
  explicit AuthAddresses(net::HostPort name, Resolver resolver = net::resolve);

  // Connects to one of the addresses. No blocking call on the new connection takes longer than
  // `timeout_ms`. kUnavailable when no address accepted before the deadline, or the name was not
  // resolved by then.
  base::Result<net::Fd> connect(std::int64_t timeout_ms, base::Deadline deadline);

  // Whether the authserver at the other end of `fd` answered in time. One that did not is skipped.
  void note_answer(int fd, bool is_in_time) EXCLUDES(mutex_);

  // How many addresses are known now.
  std::size_t count() EXCLUDES(mutex_);

 private:
  using Found = base::Result<std::vector<net::SocketAddress>>;
  struct Known {
    net::SocketAddress address;
    std::int64_t skipped_until_ns = 0;  // 0: the last attempt succeeded, or there was none yet
  };
  std::vector<net::SocketAddress> in_order_of_trial() EXCLUDES(mutex_);
  void note_outcome(const net::SocketAddress& address, bool is_good) EXCLUDES(mutex_);
  void skip_until(const net::SocketAddress& address, std::int64_t until_ns) REQUIRES(mutex_);
  base::Status wait_until_known(base::Deadline deadline) EXCLUDES(mutex_);
  bool must_look_up() REQUIRES(mutex_);
  void take_look_up() REQUIRES(mutex_);
  bool all_are_skipped() REQUIRES(mutex_);

  const net::HostPort name_;
  const bool is_numeric_;  // then it is resolved only once
  const Resolver resolver_;
  base::Mutex mutex_;
  std::vector<Known> known_ GUARDED_BY(mutex_);
  std::int64_t resolve_again_at_ns_ GUARDED_BY(mutex_) = 0;
  std::shared_future<Found> look_up_ GUARDED_BY(mutex_);  // valid while the name is resolved
  std::optional<base::Error> look_up_failure_ GUARDED_BY(mutex_);  // of the last time

  std::size_t next_ GUARDED_BY(mutex_) = 0;  // where the next round robin starts
};

}  // namespace fileserver
