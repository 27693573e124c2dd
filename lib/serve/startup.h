// How both servers start.
#pragma once

#include <functional>
#include <optional>
#include <string_view>

#include "base/log.h"
#include "base/result.h"
#include "guard/sandbox.h"
#include "net/address.h"
#include "serve/options.h"

namespace serve {

// Runs a server. Sets the log level, blocks the stop signals, forbids to get more rights, makes
// thread stacks small, raises the limit of descriptors, and then calls `body`. Returns the exit
// status of `body`. If an exception leaves it, prints one line on standard error and returns 1.
int run_server(std::string_view program, base::log::Level log_level,
               const std::function<int()>& body);

// Prints why the program could not start on standard error. Returns the exit status 1.
int failed_to_start(std::string_view program, const base::Error& error);

// Makes the process run as options.user, if it is set, and forbids core dumps and debuggers unless
// options.is_debuggable. Called once the address is bound, which may
// need root, and before anything that others wrote is read. If this fails, the server must not
// start.
base::Status become_user(const Options& options);

// Takes everything from the process that `allowed` does not name, unless options.sandbox is kOff.
// Returns what is enforced, or why nothing is, for announce_ready(). A kernel that cannot do it
// does not stop the server. Requires: no other thread was started.
base::Result<guard::Restricted> enter_sandbox(const Options& options,
                                              const guard::Allowed& allowed);

// Where a server listens.
struct Addresses {
  net::HostPort listen;
  std::optional<net::HostPort> http = {};
  std::optional<net::HostPort> https = {};
  std::optional<net::HostPort> tls = {};
  std::optional<net::HostPort> telemetry = {};
};

// Prints "READY HOST:PORT http=HOST:PORT https=HOST:PORT tls=HOST:PORT telemetry=HOST:PORT" on
// standard output, without those that there are not, and tells a service manager the same. The last
// line of the log before has the same addresses. The limits are logged for --log-level debug only.
// Warns if there are too few descriptors for --max-connections, and if the server runs as root
// although nobody asked for it. Logs what the sandbox enforces, and warns of what it does not. In a
// sandbox, no thread and no later child of this process can listen on another address any more.
void announce_ready(const Addresses& addresses, const Options& options,
                    const base::Result<guard::Restricted>& sandbox);

}  // namespace serve
