// Reads the flags, builds the parts, runs.
#include <sys/stat.h>

#include <memory>
#include <utility>
#include <variant>

#include "authserver/account_task.h"
#include "authserver/authenticator.h"
#include "authserver/config.h"
#include "authserver/metrics.h"
#include "authserver/session.h"
#include "base/stop_signals.h"
#include "serve/servers.h"
#include "serve/shared_memory.h"
#include "serve/startup.h"
#include "serve/telemetry_service.h"

namespace {

using authserver::Config;
using authserver::Scheme;

void warn_about_plain(Scheme scheme) {
  if (scheme != Scheme::kPlain) return;
  base::log::warn(
      "new accounts are stored with their password in plain text; this is for measurements only");
}

int failed(const base::Error& error) { return serve::failed_to_start("authserver", error); }

int carry_out_instead_of_serving(const Config& config) {
  if (const auto done = serve::become_user(config.serve); !done) return failed(done.error());
  // A stop signal ends the program at once. That is safe: an import can be repeated, an unfinished
  // export leaves the old file, and one account is changed as a whole.
  base::release_stop_signals();
  const auto done = authserver::carry_out(config.task, config.store, config.password_scheme);
  return done ? 0 : failed(done.error());
}

int run(const Config& config) {
  ::umask(S_IRWXG | S_IRWXO);  // the files that we write hold password records
  if (!authserver::start_cryptography())
    return failed({base::ErrorCode::kInternal, "the system has no source of random numbers"});
  if (config.task.is_wanted()) return carry_out_instead_of_serving(config);
  warn_about_plain(config.password_scheme);
  // The address may be one that only root can bind. The store's files must belong to the user.
  auto listener = net::bind_to(config.listen, serve::io_slice_ms(config.serve.idle_timeout_ms));
  if (!listener) return failed(listener.error());
  auto telemetry = serve::TelemetryService::open(config.serve);
  if (!telemetry) return failed(telemetry.error());
  if (const auto done = serve::become_user(config.serve); !done) return failed(done.error());
  // Preparing shows whether the store can be used in the sandbox.
  guard::Allowed allowed = config.store.backend->needs(config.store.limits);
  allowed.listen_on(config.listen);
  const auto sandbox = serve::enter_sandbox(config.serve, allowed);
  if (const auto prepared = config.store.prepare(); !prepared) return failed(prepared.error());

  const auto lanes = static_cast<std::size_t>(config.hashes_at_once);
  const serve::Shared<authserver::SharedPasswordState> passwords(std::in_place, lanes);
  // Each process would keep memory of its own, and there may be thousands.
  const bool keeps_memory = config.serve.model == serve::Model::kThread;
  const auto authenticator =
      authserver::Authenticator::make({.scheme = config.password_scheme,
                                       .memo_ms = config.verified_memo_ms,
                                       .hash_wait_ms = authserver::kHashWaitMs,
                                       .kept_regions = keeps_memory ? lanes : 0},
                                      *passwords);
  if (!authenticator) return failed(authenticator.error());

  if (const auto listening = net::start_listening(*listener); !listening)
    return failed(listening.error());
  serve::Options options = config.serve;
  const serve::StopsTelemetry stops_telemetry(telemetry->get());
  if (auto* const service = telemetry->get()) {
    const auto started = service->start(options, [service, &config, &passwords](pid_t server) {
      return authserver::make_telemetry_source(config, service->board(), passwords->lanes, server);
    });
    if (!started) return failed(started.error());
  }
  serve::announce_ready(
      {.listen = listener->address, .telemetry = serve::address_of(telemetry->get())}, options,
      sandbox);

  const serve::Shared<authserver::StoreOutages> store_outages;
  const serve::Shared<authserver::SharedTokenState> tokens;
  const serve::MakeWorker make_worker = [&] {
    return std::make_unique<authserver::Session>(*authenticator, config.store, *store_outages,
                                                 *tokens);
  };
  return serve::serve(serve::only({std::move(*listener), make_worker}), options) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto read = authserver::read_config(argc, argv);
  if (const int* const exit_status = std::get_if<int>(&read)) return *exit_status;
  const Config& config = std::get<Config>(read);
  return serve::run_server("authserver", config.log_level, [&] { return run(config); });
}
