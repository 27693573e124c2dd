// Reads the configuration, builds the parts of the fileserver and runs it.
//
// To read the fileserver, begin with session.cpp, which serves one client of the native protocol.
// Go on with http/session.cpp, which serves one of HTTP, and with files/files.h.
#include <iostream>
#include <memory>
#include <utility>
#include <variant>
#include <vector>

#include "base/log.h"
#include "base/stop_signals.h"
#include "fileserver/config.h"
#include "fileserver/http/session.h"
#include "fileserver/metrics.h"
#include "fileserver/parts.h"
#include "fileserver/rights/lock_client.h"
#include "fileserver/rights/rights_table.h"
#include "fileserver/session.h"
#include "serve/http_conversation.h"
#include "serve/servers.h"
#include "serve/startup.h"

namespace {

using fileserver::Config;
using fileserver::Parts;

// From now on clients can connect, and wait until they are served.
base::Status open_to_clients(Parts& parts) {
  if (const auto done = net::start_listening(parts.listener); !done) return done;
  for (auto* const listener : {&parts.http_listener, &parts.https_listener, &parts.tls_listener}) {
    if (!*listener) continue;
    if (const auto done = net::start_listening(**listener); !done) return done;
  }
  if (parts.telemetry == nullptr) return base::kDone;
  return parts.telemetry->start(parts.options, [&parts](pid_t server) {
    return fileserver::make_telemetry_source(parts, server);
  });
}

void announce_ready(const Config& config, const Parts& parts) {
  if (parts.is_authserver_missing) {
    base::log::warn("no authserver was running at the start at={} hint=\"start it\"",
                    net::to_string(config.auth.address));
  }
  serve::announce_ready({.listen = parts.listener.address,
                         .http = parts.http_address,
                         .https = parts.https_address,
                         .tls = parts.tls_address,
                         .telemetry = serve::address_of(parts.telemetry.get())},
                        parts.options, parts.sandbox);
  if (config.http_listen &&
      fileserver::are_passwords_readable(*config.http_listen, config.trusted_proxies)) {
    base::log::warn(
        "passwords cross the network readable http={} hint=\"put TLS in front, and name it with "
        "--trusted-proxy: docs/http.md\"",
        net::to_string(*config.http_listen));
  }
}

std::vector<serve::Front> fronts_of(Parts& parts) {
  const auto make_session = [&parts] { return std::make_unique<fileserver::Session>(parts); };
  auto fronts = serve::only({std::move(parts.listener), make_session});
  if (parts.http_listener) {
    fronts.push_back(
        {std::move(*parts.http_listener),
         [&parts] { return std::make_unique<fileserver::HttpSession>(parts, parts.http_hosts); },
         &serve::busy_answer, nullptr,
         [&parts](serve::Arrival& one) { return parts.health_beyond_limit.take(one); }});
  }
  if (parts.https_listener) {
    fronts.push_back(
        {std::move(*parts.https_listener),
         [&parts] { return std::make_unique<fileserver::HttpSession>(parts, parts.https_hosts); },
         &serve::no_answer, &*parts.https});
  }
  if (parts.tls_listener) {
    fronts.push_back(
        {std::move(*parts.tls_listener), make_session, &serve::no_answer, &*parts.lines_in_tls});
  }
  return fronts;
}

int run(const Config& config) {
  if (config.speaks_tls()) tls::read_system_settings();
  Parts parts(config);
  if (base::stop_was_asked_for()) {
    base::log::info("stopped before it was ready");
    return 0;
  }
  if (const auto done = open_to_clients(parts); !done)
    return serve::failed_to_start("fileserver", done.error());
  announce_ready(config, parts);
  parts.options.before_exit = [&parts] {
    if (parts.transfer_log) parts.transfer_log->finish();
  };
  return serve::serve(fronts_of(parts), parts.options) ? 0 : 1;
}

int show_rights(const Config& config) {
  const auto file = fileserver::read_rights_file(config.rights_path);
  if (!file) return serve::failed_to_start("fileserver", file.error());
  std::cout << fileserver::rights_report(*file, config.show_rights_of) << std::flush;
  return std::cout ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto parsed = fileserver::read_config(argc, argv);
  if (const int* const exit_status = std::get_if<int>(&parsed)) return *exit_status;
  const auto& config = std::get<Config>(parsed);
  if (!config.show_rights_of.empty()) return show_rights(config);
  if (config.asks_for_locks()) return fileserver::ask_for_locks(config.locks);
  return serve::run_server("fileserver", config.log_level, [&] { return run(config); });
}
