// Makes the accounts that clients ask for, with a limit for each address.
#pragma once

#include <cstdint>

#include "base/clock.h"
#include "base/result.h"
#include "fileserver/auth/auth_client.h"
#include "fileserver/auth/guess_throttle.h"
#include "fileserver/trusted_proxy.h"
#include "net/ip_address.h"
#include "wire/request.h"

namespace fileserver {

// Counts the accounts that each address has made, and forgives one of them every minute. While the
// limit is reached, no account is made for the address. GuessThrottle says which addresses count as
// one, and GuessCounts how many requests of an address may be under way.
//
// Clients on this machine have no limit, whether they come by loopback or by a Unix-domain socket.
// Clients that come through a trusted proxy have one, wherever the proxy is.
//
// Any thread, and any process as GuessThrottle.
class SignUp {
 public:
  static constexpr std::int64_t kForgiveOneNs = 60 * base::kNsPerS;

  struct Limits {
    int accounts = 100;                       // for each address; 0: no limit
    int addresses = 65'536;                   // how many are remembered
    std::int64_t patience_ms;                 // how long a request waits for its turn at most
    std::int64_t forget_places_after_ns = 0;  // as in GuessThrottle
  };

  // `auth` and `proxies` must outlive it. `clock` is that of GuessThrottle.
  SignUp(AuthClient& auth, const TrustedProxies& proxies, Limits limits,
         GuessThrottle::Clock clock = &base::now_ns)
      : auth_(auth),
        proxies_(proxies),
        patience_ms_(limits.patience_ms),
        throttle_({limits.accounts, limits.addresses, kForgiveOneNs, false,
                   limits.forget_places_after_ns},
                  clock) {}

  // Who asks. `client` is `peer` itself, unless a trusted proxy named another one.
  struct From {
    net::IpAddress peer;
    net::IpAddress client;
  };
  struct Answer {
    base::Status status;
    bool is_throttled = false;  // then the status is kBusy, and the authserver was not asked
  };

  // Asks the authserver to make the account, unless the address has made too many.
  Answer make(const From& from, wire::Credentials account);

 private:
  bool has_limit(const net::IpAddress& peer) const;

  AuthClient& auth_;
  const TrustedProxies& proxies_;
  const std::int64_t patience_ms_;
  GuessThrottle throttle_;
};

}  // namespace fileserver
