// Asks the authserver.
#pragma once

#include <cstdint>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "fileserver/auth_addresses.h"
#include "fileserver/config.h"
#include "fileserver/connection_shelf.h"
#include "net/fd.h"

namespace fileserver {

// Any thread; no lock is taken on the way of a request. Connections are kept and lent out for one
// request at a time, made when there is none, and closed when anything is odd about them: an answer
// that comes late finds nobody.
class AuthClient {
 public:
  // Whether asking twice does no harm.
  enum class Repeat { kSafe, kUnsafe };

  AuthClient(const net::HostPort& address, AuthConnection mode, std::int64_t timeout_ms)
      : addresses_(address), mode_(mode), timeout_ms_(timeout_ms) {}

  // Done when the authserver answered OK, else the error that it answered. kUnavailable: it could
  // not be asked, or did not answer in time; unless `repeat` is safe, what was asked may have been
  // done. kInternal: it does not speak the protocol.
  base::Status ask(std::string_view line, Repeat repeat);

 private:
  base::Status ask_on_fresh(std::string_view line, base::Deadline deadline);

  AuthAddresses addresses_;
  const AuthConnection mode_;
  const std::int64_t timeout_ms_;
  ConnectionShelf kept_;
};

}  // namespace fileserver
