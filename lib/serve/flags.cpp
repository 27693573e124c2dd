#include "serve/flags.h"

#include <utility>
#include <vector>

#include "flags/values.h"

namespace serve {

void group_security(flags::App& app) { app.group("Security"); }

void group_to_measure(flags::App& app) {
  app.group("To measure, or to repeat the paper", flags::Shown::kInFullHelp);
}

namespace {

void add_limits(flags::App& app, Options& target) {
  app.group("Limits");
  flags::add_whole(
      app, "--max-connections", target.max_connections, 1, 1'000'000,
      "how many connections may be open at once; a further one gets the answer `busy`");
  flags::add_seconds(app, "--idle-timeout", target.idle_timeout_ms,
                     "close a connection that is idle for this long; 0: never; it is idle if it "
                     "completes no line, or takes no byte of a reply");
  flags::add_seconds(app, "--drain-seconds", target.drain_ms,
                     "time for the requests under way at a stop; then they are cut off");
}

void add_model(flags::App& app, Options& target, Models models) {
  std::vector<std::pair<std::string, Model>> choices{{"thread", Model::kThread},
                                                     {"process", Model::kProcess}};
  std::string help = "serve each connection in a thread or in a process";
  if (models == Models::kAll) {
    choices.emplace_back("event", Model::kEvent);
    help += "; event: all of them in --loops threads";
  }
  flags::add_choice<Model>(app, "--model", target.model, choices, help);
  if (models != Models::kAll) return;
  flags::add_whole(app, "--loops", target.loops, 0, 1024,
                   "how many threads --model event has; 0: one for each core");
}

}  // namespace

void add_options(flags::App& app, Options& target, const std::string& spare_name, Models models) {
  add_limits(app, target);
  app.group("Logs and telemetry");
  flags::add_optional_address(
      app, "--telemetry-listen", target.telemetry_listen,
      "address for GET /metrics, /healthz and /livez; for Prometheus; a port means 127.0.0.1");
  group_security(app);
  app.add_parsed("--user", "USER", "a user name or number",
                 "user to run as when root starts the server; by name or number",
                 [&target](const std::string& text) {
                   target.user = text;
                   return !text.empty() && text.find(':') == std::string::npos;
                 });
  app.add_flag("--debuggable", target.is_debuggable,
               "allow core dumps, and debuggers of the same user; both can read passwords");
  group_to_measure(app);
  add_model(app, target, models);
  flags::add_whole(
      app, spare_name, target.spare, 0, 100'000,
      "how many idle threads (or processes) are kept for the next connection; 0: start "
      "one for each connection, as in the paper");
}

void add_encryption(flags::App& app, tls::Files& files, int& handshakes, flags::Shown shown) {
  app.group("Encryption", shown);
  flags::add_path(app, "--tls-certificate", files.certificate,
                  "the certificate of this server in PEM; those between it and the root follow; "
                  "SIGHUP reads it and its key again")
      ->type_name("FILE");
  flags::add_path(app, "--tls-key", files.key, "its key in PEM; others must not be able to read it")
      ->type_name("FILE");
  flags::add_whole(app, "--tls-handshakes", handshakes, 1, 1'000'000,
                   "how many handshakes of TLS may be under way; an address has at most a quarter "
                   "of them; further connections are closed");
}

}  // namespace serve
