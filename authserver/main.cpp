// Reads the flags, builds the parts, runs.
#include <signal.h>
#include <sys/stat.h>

#include <memory>
#include <optional>
#include <utility>
#include <variant>
#include <vector>

#include "authserver/account_task.h"
#include "authserver/authenticator.h"
#include "authserver/config.h"
#include "authserver/metrics.h"
#include "authserver/session.h"
#include "base/hangup_signal.h"
#include "base/stop_signals.h"
#include "serve/encrypted.h"
#include "serve/on_hangup.h"
#include "serve/servers.h"
#include "serve/shared_memory.h"
#include "serve/startup.h"
#include "serve/telemetry_service.h"
#include "tls/server_context.h"

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

// --tls-listen: what --listen serves, in TLS.
class EncryptedFront {
 public:
  explicit EncryptedFront(const Config& config)
      : config_(config), handshakes_(std::in_place, config.tls_handshakes) {}

  base::Status bind() {
    if (!config_.tls_listen) return base::kDone;
    tls::read_system_settings();  // which the sandbox hides
    auto bound =
        net::bind_to(*config_.tls_listen, serve::io_slice_ms(config_.serve.idle_timeout_ms));
    if (!bound) return bound.error();
    listener_ = std::move(*bound);
    return base::kDone;
  }

  void allow(guard::Allowed& allowed) const {
    if (!config_.tls_listen) return;
    allowed.listen_on(*config_.tls_listen);
    tls::allow_reading({config_.tls.certificate, config_.tls.key, config_.tls_client_ca},
                       allowed.readable);
  }

  // As the user and in the sandbox, so that what can be read now can be read again at SIGHUP.
  base::Status read_files() {
    if (!config_.tls_listen) return base::kDone;
    auto opened = tls::ServerContext::open(config_.tls, config_.tls_client_ca);
    if (!opened) return opened.error();
    context_ = std::move(*opened);
    encryption_.emplace(serve::Encryption{*context_, tls::Spoken::kLines, *handshakes_});
    return base::kDone;
  }

  base::Status start_listening() const {
    return listener_ ? net::start_listening(*listener_) : base::Status(base::kDone);
  }

  // With processes the parent reads again, as it has no further thread. A hangup never ends the
  // server, also if it has nothing to read.
  void read_again_at_hangup(serve::Options& options) {
    if (!context_) {
      ::signal(SIGHUP, SIG_IGN);
      return;
    }
    net::Fd hangups(base::open_hangup_signal());
    const auto read_again = [this] { static_cast<void>(context_->read_again()); };
    if (options.model == serve::Model::kProcess) {
      hangups_ = std::move(hangups);
      options.hangups = hangups_.get();
      options.on_hangup = read_again;
    } else {
      on_hangup_ = std::make_unique<serve::OnHangup>(std::move(hangups), read_again);
    }
  }

  void add_to(std::vector<serve::Front>& fronts, const serve::MakeWorker& make_worker) {
    if (!listener_) return;
    fronts.push_back({std::move(*listener_), make_worker, &serve::no_answer, &*encryption_});
  }

  std::optional<net::HostPort> address() const {
    if (!listener_) return {};
    return listener_->address;
  }
  tls::ServerContext* context() const { return context_.get(); }

 private:
  const Config& config_;
  std::optional<net::Listener> listener_;
  const serve::Shared<serve::Handshakes> handshakes_;
  std::unique_ptr<tls::ServerContext> context_;  // null: nothing is encrypted
  std::optional<serve::Encryption> encryption_;
  net::Fd hangups_;
  std::unique_ptr<serve::OnHangup> on_hangup_;
};

serve::Options options_of(const Config& config) {
  serve::Options options = config.serve;
  if (config.tls_listen) ++options.fronts;
  return options;
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
  EncryptedFront encrypted(config);
  if (const auto bound = encrypted.bind(); !bound) return failed(bound.error());
  serve::Options options = options_of(config);
  auto telemetry = serve::TelemetryService::open(options);
  if (!telemetry) return failed(telemetry.error());
  if (const auto done = serve::become_user(config.serve); !done) return failed(done.error());
  // Preparing shows whether the store can be used in the sandbox.
  guard::Allowed allowed = config.store.backend->needs(config.store.limits);
  allowed.listen_on(config.listen);
  encrypted.allow(allowed);
  const auto sandbox = serve::enter_sandbox(config.serve, allowed);
  if (const auto done = encrypted.read_files(); !done) return failed(done.error());
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
  if (const auto listening = encrypted.start_listening(); !listening)
    return failed(listening.error());
  encrypted.read_again_at_hangup(options);
  const serve::StopsTelemetry stops_telemetry(telemetry->get());
  if (auto* const service = telemetry->get()) {
    const auto started = service->start(options, [&, service](pid_t server) {
      return authserver::make_telemetry_source(config, service->board(), passwords->lanes,
                                               encrypted.context(), server);
    });
    if (!started) return failed(started.error());
  }
  serve::announce_ready({.listen = listener->address,
                         .tls = encrypted.address(),
                         .telemetry = serve::address_of(telemetry->get())},
                        options, sandbox);

  const serve::Shared<authserver::StoreOutages> store_outages;
  const serve::Shared<authserver::SharedTokenState> tokens;
  const serve::MakeWorker make_worker = [&] {
    return std::make_unique<authserver::Session>(*authenticator, config.store, *store_outages,
                                                 *tokens);
  };
  auto fronts = serve::only({std::move(*listener), make_worker});
  encrypted.add_to(fronts, make_worker);
  return serve::serve(std::move(fronts), options) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto read = authserver::read_config(argc, argv);
  if (const int* const exit_status = std::get_if<int>(&read)) return *exit_status;
  const Config& config = std::get<Config>(read);
  return serve::run_server("authserver", config.log_level, [&] { return run(config); });
}
