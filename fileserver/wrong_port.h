// What a client of HTTP, such as a browser, is told on the port of the native protocol.
#pragma once

#include <optional>
#include <string>

#include "net/address.h"

namespace fileserver {

// A whole answer of HTTP whose body is two lines. They name `http`, where HTTP is served, or the
// flag that makes the fileserver serve it.
std::string wrong_port_answer(const std::optional<net::HostPort>& http);

}  // namespace fileserver
