// The lines of requests of HTTP in the transfer log, if there is one.
#pragma once

#include <cstdint>

#include "fileserver/transfers/transfer.h"

namespace fileserver {

class Exchange;
struct Parts;

// Adds a request that was answered. Its name, its client and its user are set here. Requires: the
// request has a path.
void log_transfer(Exchange& exchange, Parts& parts, Transfer transfer);

// Adds a change that was answered, with its result. Of the transfer, the times, the change, the
// destination and how far the body has come are set already. Requires: the request has a path.
void log_change(Exchange& exchange, Parts& parts, Transfer transfer);

// Adds a request that was answered with 401, 403 or 429, unless it has its line. Only a log with
// users has such lines.
void log_refusal(Exchange& exchange, Parts& parts, std::int64_t asked_ns);

}  // namespace fileserver
