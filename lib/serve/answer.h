// The end of a request: what became of it, told to the peer and, where somebody must know, to the
// log.
#pragma once

#include <string_view>

#include "base/result.h"
#include "serve/connection.h"

namespace serve {

// `OK`, or the error's code. An internal error is logged with its cause; one that passes only at
// debug.
void answer(Connection& connection, const base::Status& status);

// One line at debug for each request: "get user=amy answer=denied".
void log_request(std::string_view request, std::string_view user, const base::Status& status);

}  // namespace serve
