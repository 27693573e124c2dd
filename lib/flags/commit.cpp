// Compiled alone, so that another commit compiles nothing else again.
#include "flags/commit.h"

#include "source_commit.h"

namespace flags {

std::string commit() { return TURNSTILE_COMMIT; }

}  // namespace flags
