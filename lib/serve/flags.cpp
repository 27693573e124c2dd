#include "serve/flags.h"

#include "flags/values.h"

namespace serve {

void add_options(flags::App& app, Options& target, const std::string& spare_name) {
  flags::add_choice<Model>(app, "--model", target.model,
                           {{"thread", Model::kThread}, {"process", Model::kProcess}},
                           "serve each connection in a thread or in a process");
  flags::add_whole(
      app, "--max-connections", target.max_connections, 1, 1'000'000,
      "how many connections may be open at once; a further one gets the answer `busy`");
  flags::add_whole(
      app, spare_name, target.spare, 0, 100'000,
      "how many idle threads (or processes) are kept for the next connection; 0: start "
      "one for each connection, as in the paper");
  flags::add_seconds(app, "--idle-timeout", target.idle_timeout_ms,
                     "close a connection that completes no line, or takes no byte of a reply, for "
                     "this long; 0: never");
  flags::add_optional_address(
      app, "--telemetry-listen", target.telemetry_listen,
      "address for GET /metrics (Prometheus) and GET /healthz; a port alone means 127.0.0.1")
      ->default_str("off");
  flags::add_seconds(app, "--drain-seconds", target.drain_ms,
                     "time to finish the requests under way when the server is stopped");
  app.add_flag("--debuggable", target.is_debuggable,
               "allow core dumps, and debuggers of the same user; both can read passwords");
  app.add_parsed("--user", "USER", "a user name or number",
                 "user to run as when root starts the server; by name or number",
                 [&target](const std::string& text) {
                   target.user = text;
                   return !text.empty() && text.find(':') == std::string::npos;
                 });
}

}  // namespace serve
