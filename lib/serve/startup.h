// What both servers do before they serve.
#pragma once

#include <functional>
#include <string_view>

#include "base/log.h"
#include "base/result.h"
#include "net/address.h"
#include "serve/options.h"

namespace serve {

// The outermost function of a server: log level, signals held back, small thread stacks, as many
// descriptors as the system allows; then `body`, whose exit status it returns. An exception ends in
// one line and status 1.
int run_server(std::string_view program, base::log::Level log_level,
               const std::function<int()>& body);

// One line on standard error; returns the exit status.
int failed_to_start(std::string_view program, const base::Error& error);

// "READY HOST:PORT" on standard output, and what the limits are in the log.
void announce_ready(const net::HostPort& address, const Options& options);

}  // namespace serve
