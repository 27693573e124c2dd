// The service manager that may have started this program, such as systemd.
#pragma once

#include <string_view>

namespace serve {

// Tells the service manager that the server is ready, with a line that it shows as the status. Does
// nothing unless the variable NOTIFY_SOCKET names a socket by its path (man sd_notify). A failure
// is logged, and the service manager then stops the server after its own time-out.
void tell_ready(std::string_view status);

}  // namespace serve
