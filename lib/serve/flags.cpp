#include "serve/flags.h"

#include "flags/values.h"

namespace serve {

void add_options(flags::App& app, Options& target, const std::string& spare_name) {
  flags::add_whole(app, "--max-connections", target.max_connections, 1, 1'000'000,
                   "connections at once; one more is answered `busy`");
  flags::add_whole(app, spare_name, target.spare, 0, 100'000,
                   "how many that are done may wait for the next connection; 0: one is made for "
                   "each, the paper's way");
  flags::add_seconds(app, "--idle-timeout", target.idle_timeout_ms,
                     "close a connection that completes no line, or takes no byte of a reply, for "
                     "so long; 0: never");
  flags::add_seconds(app, "--drain-seconds", target.drain_ms,
                     "when told to stop: time for the requests under way");
}

}  // namespace serve
