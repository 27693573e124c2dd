// The addresses behind --auth.
#pragma once

#include <functional>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "net/address.h"
#include "net/fd.h"

namespace fileserver {

// Any thread. A name may stand for several authservers: connections are spread over all of its
// addresses, one that does not answer is passed over for a moment, after which one caller tries it
// again, and the name is looked up again from time to time, and when none answers: by one caller,
// while the others go on with what is known.
class AuthAddresses {
 public:
  using Resolver =
      std::function<base::Result<std::vector<net::SocketAddress>>(const net::HostPort&)>;

  // `resolver` is called by any thread.
  explicit AuthAddresses(net::HostPort name, Resolver resolver = net::resolve);

  // A connection to one of them; its blocking calls sleep at most `timeout_ms`. kUnavailable when
  // none can be had before the deadline.
  base::Result<net::Fd> connect(std::int64_t timeout_ms, base::Deadline deadline);

 private:
  struct Known {
    net::SocketAddress address;
    std::int64_t passed_over_until_ns = 0;  // 0: it answered last time, or was not asked yet
  };
  std::vector<net::SocketAddress> in_order_of_trial() EXCLUDES(mutex_);
  void note_outcome(const net::SocketAddress& address, bool is_good) EXCLUDES(mutex_);
  void pass_over(const net::SocketAddress& address, std::int64_t until_ns) REQUIRES(mutex_);
  base::Status look_up_again() EXCLUDES(mutex_);

  // True for the one caller that is to look the name up now; for all as long as nothing is known.
  bool shall_look_up() EXCLUDES(mutex_);

  const net::HostPort name_;
  const bool is_numeric_;  // then it stands for itself, always
  const Resolver resolver_;
  base::Mutex mutex_;
  std::vector<Known> known_ GUARDED_BY(mutex_);
  std::int64_t known_until_ns_ GUARDED_BY(mutex_) = 0;
  std::int64_t one_looks_up_until_ns_ GUARDED_BY(mutex_) = 0;  // in the past: nobody does
  std::size_t next_ GUARDED_BY(mutex_) = 0;
};

}  // namespace fileserver
