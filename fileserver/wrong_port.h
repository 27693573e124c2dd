// What a client of HTTP, such as a browser, is told on the port of the native protocol.
#pragma once

#include <optional>
#include <string>
#include <string_view>

#include "net/address.h"

namespace fileserver {

// Whether the line is the first one of an HTTP/1 request, such as "GET / HTTP/1.1". Such a line
// could also be the name of a file. So this counts only for a client that has not logged in, whose
// first line it is.
bool is_http_request_line(std::string_view line);

// A whole answer of HTTP whose body is two lines. They name `http`, where HTTP is served, or the
// flag that makes the fileserver serve it.
std::string wrong_port_answer(const std::optional<net::HostPort>& http);

}  // namespace fileserver
