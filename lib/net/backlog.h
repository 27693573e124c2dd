// How many connections may wait for accept.
#pragma once

namespace net {

// Returns the longest queue that the system allows (net.core.somaxconn).
int longest_backlog();

}  // namespace net
