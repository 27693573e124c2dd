// Who answers a request of HTTP.
#pragma once

#include "fileserver/http/exchange.h"
#include "fileserver/parts.h"

namespace fileserver {

// Answers one request, whose credentials were validated. Sends exactly one answer. The path is one
// that a file can have, except for put_nowhere(). Sessions share the parts.
using Handler = void (*)(Exchange& exchange, Parts& parts);

}  // namespace fileserver
