// How the fileserver asks the authserver: plain values, with their defaults.
#pragma once

#include <cstdint>

#include "net/address.h"
#include "tls/client_context.h"

namespace fileserver {

// Whether connections to the authserver are kept, or made for each request.
enum class AuthConnection { kPersistent, kPerRequest };

struct AuthOptions {
  net::HostPort address{"127.0.0.1", 9001};
  AuthConnection connection = AuthConnection::kPersistent;
  std::int64_t timeout_ms = 5'000;  // for connecting and the answer together
  bool is_encrypted = false;
  tls::ClientFiles tls = {};  // if it is
};

}  // namespace fileserver
