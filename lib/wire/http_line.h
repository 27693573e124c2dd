// Lines of HTTP, which a browser or another client of HTTP sends to a port of the line protocol.
#pragma once

#include <string_view>

namespace wire {

// Whether the line is the first one of an HTTP/1 request, such as "GET / HTTP/1.1". Such a line
// could also be the name of a file. So for a fileserver this counts only as the first line of a
// client that has not logged in.
bool is_http_request_line(std::string_view line);

// Whether the line is a request line of any version, or begins with "Host:". Letters may be of any
// case, and the method may be any text without a colon, which is behind each verb of an authserver.
// A browser sends both in front of everything that a page can choose. No request to an authserver
// is such a line.
bool is_line_of_browser(std::string_view line);

}  // namespace wire
