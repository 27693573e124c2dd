// Looks for a server on this host without connecting to it.
#pragma once

#include <string>

#include "net/address.h"

namespace net {

// Whether nothing on this host can be listening at the address: no socket listens on its port, or
// there is no socket file. False if it cannot be told, as for an address of another host, or for a
// name other than localhost. Connects to nobody, so no server counts a connection.
//
// `root` is the folder that contains proc/; only tests set it.
bool is_nobody_listening_at(const HostPort& address, const std::string& root = "");

}  // namespace net
