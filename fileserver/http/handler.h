// Who answers a request of HTTP.
#pragma once

namespace fileserver {

class Exchange;
struct Parts;

// Answers one request, whose credentials were validated. Sends exactly one answer. The path is one
// that a file can have, except for put_nowhere(). Sessions share the parts.
using Handler = void (*)(Exchange& exchange, Parts& parts);

}  // namespace fileserver
