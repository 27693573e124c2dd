// Looks, before a run starts, whether the host has what the run needs.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "base/result.h"
#include "loadgen/config.h"
#include "loadgen/host.h"
#include "loadgen/sources.h"
#include "net/address.h"

namespace loadgen {

struct Ready {
  net::SocketAddress server;
  Sources sources;
  std::vector<std::string> warnings;  // what may go wrong, and what to do about it
};

// Raises the limit of descriptors. An error is what is missing, and what to do about it, in one
// line; that nobody listens at the server's address is not one: the run will count it.
base::Result<Ready> prepare(const Config& config);

// The ports of one run: nothing when there are enough for as many new connections as a machine of a
// few cores can make.
std::optional<std::string> port_warning(const Config& config, const EphemeralPorts& ports,
                                        int sources);

// Nothing when all files that the run asks for are under --verify-root.
std::optional<std::string> missing_files(const Config& config);

std::optional<std::string> tracking_warning(const ConnectionTracking& tracking);

}  // namespace loadgen
