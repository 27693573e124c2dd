// Sends requests to the authserver.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "fileserver/auth_addresses.h"
#include "fileserver/config.h"
#include "fileserver/connection_shelf.h"
#include "wire/request.h"

namespace fileserver {

// Keeps connections to the authserver and lends each to one request at a time. A request that finds
// no idle connection makes a new one. A connection is closed instead of kept if anything about it
// is odd, so a late answer can never be taken for the answer to another request.
//
// Threads: any, at the same time. A request takes no lock.
class AuthClient {
 public:
  AuthClient(const net::HostPort& address, AuthConnection mode, std::int64_t timeout_ms,
             AuthAddresses::Resolver resolver = net::resolve)
      : addresses_(address, std::move(resolver)), mode_(mode), timeout_ms_(timeout_ms) {}

  // Each returns kDone if the authserver answered OK, otherwise the error that it answered, or:
  //
  // kUnavailable: the authserver could not be reached, or did not answer within the time-out. A
  // `new` may have been carried out nevertheless.
  // kInternal: the peer does not speak the protocol.
  //
  // If a kept connection breaks before any answer, `ping` and `auth` are sent again on a new one.
  // If a new one is not answered within half of the time and --auth stands for several addresses,
  // they are sent to another one. `new` is not repeated, because it may have been carried out.
  base::Status ask(const wire::Ping& ping);
  base::Status ask(const wire::Auth& request);
  base::Status ask(const wire::New& request);

 private:
  enum class Repeat { kSafe, kUnsafe };

  base::Status ask_line(std::string_view line, Repeat repeat);
  base::Status ask_on_new_connection(std::string_view line, base::Deadline deadline, Repeat repeat);

  AuthAddresses addresses_;
  const AuthConnection mode_;
  const std::int64_t timeout_ms_;
  ConnectionShelf kept_;
};

}  // namespace fileserver
