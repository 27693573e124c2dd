// Checks before a run whether the host has what the run needs.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "loadgen/config/config.h"
#include "loadgen/host.h"
#include "loadgen/sources.h"
#include "net/address.h"
#include "tls/client_context.h"

namespace loadgen {

// What a run needs besides its Config.
struct Ready {
  std::vector<net::SocketAddress> servers;  // at least one; the load is spread over all of them
  Sources sources;
  std::unique_ptr<tls::ClientContext> tls;  // null: connections are in clear
  std::vector<std::string> warnings;        // what may go wrong, and what to do about it
};

// Resolves the server's name, raises the limit of open descriptors, makes the folder of --save,
// reads the authorities of --tls-ca and chooses the source addresses.
//
// Fails if something that the run needs is missing. The error's context says in one line what it is
// and what to do about it. If the server's name has several addresses, those that do not accept a
// connection are left out with a warning. It is no failure if none accepts one: the requests will
// fail and be counted.
base::Result<Ready> prepare(const Config& config);

// Each of these returns what is wrong and what to do about it, in one line, or nothing.

// Warns if the run could use up the local ports of `sources` addresses, at the rate that a machine
// of a few cores can reach.
std::optional<std::string> port_warning(const Config& config, const EphemeralPorts& ports,
                                        int sources);

// Reports copies that --verify needs and that are not under --verify-root.
std::optional<std::string> missing_files(const Config& config);

// Warns if the table of tracked connections is near full.
std::optional<std::string> tracking_warning(const ConnectionTracking& tracking);

}  // namespace loadgen
