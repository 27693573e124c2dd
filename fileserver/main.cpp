// Reads the configuration, builds the parts of the fileserver and runs it.
#include <algorithm>
#include <filesystem>
#include <limits>
#include <memory>
#include <optional>
#include <system_error>
#include <utility>
#include <variant>

#include "base/hangup_signal.h"
#include "base/log.h"
#include "base/stop_signals.h"
#include "fileserver/auth/auth_client.h"
#include "fileserver/auth/guess_throttle.h"
#include "fileserver/auth/log_in.h"
#include "fileserver/config.h"
#include "fileserver/files/disk_files.h"
#include "fileserver/files/prefetched_files.h"
#include "fileserver/files/uploads.h"
#include "fileserver/http/session.h"
#include "fileserver/metrics.h"
#include "fileserver/session.h"
#include "fileserver/transfers/transfer_file.h"
#include "fileserver/transfers/transfer_log.h"
#include "fileserver/writers.h"
#include "net/local_listener.h"
#include "serve/http_conversation.h"
#include "serve/on_hangup.h"
#include "serve/servers.h"
#include "serve/startup.h"
#include "serve/telemetry_service.h"

namespace {

using fileserver::Config;

std::unique_ptr<fileserver::Files> open_files(const Config& config,
                                              std::shared_ptr<const fileserver::Fence> fence,
                                              fileserver::MountWatch mounts) {
  const fileserver::DiskReads reads{static_cast<std::size_t>(config.read_bytes),
                                    config.has_read_ahead};
  if (config.files == fileserver::FilesMode::kDisk)
    return std::make_unique<fileserver::DiskFiles>(std::move(fence), reads);
  return std::make_unique<fileserver::PrefetchedFiles>(
      std::move(fence), config.memory_limit_bytes, [] { return !base::stop_was_asked_for(); },
      std::move(mounts),
      config.serve.model == serve::Model::kThread ? fileserver::Updates::kByThread
                                                  : fileserver::Updates::kNone,
      reads);
}

// What the fileserver needs once it runs. All that it opens later must be named here.
guard::Allowed allowed_for(const Config& config, const fileserver::Fence& fence) {
  guard::Allowed allowed;
  const bool may_change = config.uploads == fileserver::UploadMode::kFolder;
  (may_change ? allowed.editable : allowed.readable).push_back(fence.root_path());
  if (config.serve.sandbox != serve::Sandbox::kStrict) {
    if (auto above = fence.folder_above()) allowed.readable.push_back(std::move(*above));
  }
  if (!config.writers_path.empty()) {
    std::error_code ignored;  // what cannot be found cannot be read, which is reported
    const auto file = std::filesystem::weakly_canonical(config.writers_path, ignored);
    allowed.readable.push_back(file.parent_path());  // as an editor makes a new file
  }
  if (!config.transfer_log.path.empty()) {
    for (auto& path : fileserver::paths_of_log(config.transfer_log.path))
      allowed.writable.push_back(std::move(path));
  }
  allowed.connect_to(config.auth.host, config.auth.port);
  allowed.listen_on(config.listen);
  if (config.http_listen) allowed.listen_on(*config.http_listen);
  return allowed;
}

int failed(const base::Error& error) { return serve::failed_to_start("fileserver", error); }

// Null when there is no --transfer-log.
base::Result<std::unique_ptr<fileserver::TransferLog>> open_transfer_log(
    const Config& config, const fileserver::Fence& fence) {
  if (config.transfer_log.path.empty()) return std::unique_ptr<fileserver::TransferLog>();
  return fileserver::TransferLog::open(config.transfer_log, fence.root_path());
}

base::Result<net::Listener> bind(const Config& config, const net::HostPort& address) {
  return net::bind_to(address, serve::io_slice_ms(config.serve.idle_timeout_ms),
                      static_cast<int>(config.send_buffer_bytes));
}

// Nothing without --http-listen.
base::Result<std::optional<net::Listener>> bind_for_http(const Config& config) {
  std::optional<net::Listener> bound;
  if (!config.http_listen) return bound;
  auto listener = bind(config, *config.http_listen);
  if (!listener) return listener.error();
  bound = std::move(*listener);
  return bound;
}

serve::Addresses addresses_of(const net::Listener& native, const std::optional<net::Listener>& http,
                              const serve::TelemetryService* telemetry) {
  serve::Addresses addresses{.listen = native.address, .telemetry = serve::address_of(telemetry)};
  if (http) addresses.http = http->address;
  return addresses;
}

std::uint64_t most_upload_bytes(const Config& config) {
  if (config.max_upload_bytes == 0) return std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(config.max_upload_bytes);
}

// Blocks SIGHUP if it means something. Otherwise it ends the program.
net::Fd open_hangups(const Config& config) {
  const bool is_wanted = !config.transfer_log.path.empty() || !config.writers_path.empty();
  return is_wanted ? net::Fd(base::open_hangup_signal()) : net::Fd();
}

int run(const Config& config) {
  // Prefetching may take long. A port in use is reported before it. Connections are refused until
  // it is over, because nobody would answer them.
  auto listener = bind(config, config.listen);
  if (!listener) return failed(listener.error());
  auto http_listener = bind_for_http(config);
  if (!http_listener) return failed(http_listener.error());
  serve::Options options = config.serve;
  options.fronts = *http_listener ? 2 : 1;
  auto telemetry = serve::TelemetryService::open(options);
  if (!telemetry) return failed(telemetry.error());
  if (const auto done = serve::become_user(config.serve); !done) return failed(done.error());
  const bool is_alone = net::is_nobody_listening_at(config.auth);  // the sandbox forbids to look
  auto fence = fileserver::Fence::around(config.root);
  if (!fence) return failed(fence.error());
  auto mounts = fileserver::MountWatch::open();  // the sandbox forbids it
  const auto sandbox = serve::enter_sandbox(config.serve, allowed_for(config, *fence));

  const auto shared_fence = std::make_shared<const fileserver::Fence>(std::move(*fence));
  auto hangups = open_hangups(config);
  auto transfer_log = open_transfer_log(config, *shared_fence);
  if (!transfer_log) return failed(transfer_log.error());
  fileserver::Writers writers(config.writers_path);
  if (const auto read = writers.read(); !read) return failed(read.error());
  std::optional<serve::OnHangup> on_hangup;
  if (hangups.is_open()) {
    on_hangup.emplace(std::move(hangups), [&] {
      if (*transfer_log) (*transfer_log)->open_again();
      writers.read_again();
    });
  }

  const auto files = open_files(config, shared_fence, std::move(mounts));
  if (base::stop_was_asked_for()) {
    base::log::info("stopped before it was ready");
    return 0;
  }
  std::optional<fileserver::Uploads> uploads;
  if (config.uploads == fileserver::UploadMode::kFolder) uploads.emplace(shared_fence, *files);
  if (const auto listening = net::start_listening(*listener); !listening)
    return failed(listening.error());
  if (*http_listener) {
    if (const auto listening = net::start_listening(**http_listener); !listening)
      return failed(listening.error());
  }
  const serve::StopsTelemetry stops_telemetry(telemetry->get());
  if (auto* const service = telemetry->get()) {
    const auto started = service->start(options, [service, &config, &files](pid_t server) {
      return fileserver::make_telemetry_source(config, *files, service->board(), server);
    });
    if (!started) return failed(started.error());
  }
  fileserver::AuthClient auth(config.auth, config.auth_connection, config.auth_timeout_ms);
  fileserver::GuessThrottle throttle(config.throttle);
  fileserver::LogIn log_in(auth, throttle, config.auth_timeout_ms);
  if (is_alone) {
    base::log::warn("no authserver was running at the start at={} hint=\"start it\"",
                    net::to_string(config.auth));
  }
  serve::announce_ready(addresses_of(*listener, *http_listener, telemetry->get()), options,
                        sandbox);
  if (config.http_listen &&
      fileserver::are_passwords_readable(*config.http_listen, config.trusted_proxies)) {
    base::log::warn(
        "passwords cross the network readable http={} hint=\"put TLS in front, and name it with "
        "--trusted-proxy: docs/http.md\"",
        net::to_string(*config.http_listen));
  }
  const auto http =
      *http_listener ? std::optional((*http_listener)->address) : std::optional<net::HostPort>();
  const serve::MakeWorker make_worker = [&] {
    return std::make_unique<fileserver::Session>(auth, log_in, *files, transfer_log->get(),
                                                 config.new_accounts, http);
  };
  options.before_exit = [&] {
    if (*transfer_log) (*transfer_log)->finish();
  };
  auto fronts = serve::only({std::move(*listener), make_worker});
  fileserver::AuthClient health(config.auth, config.auth_connection,
                                std::min(config.auth_timeout_ms, telemetry::kHealthMs),
                                net::resolve, fileserver::AuthAddresses::OutageLog::kOff);
  const fileserver::HttpParts parts{
      auth,
      health,
      log_in,
      *files,
      *shared_fence,
      transfer_log->get(),
      config.has_listings,
      config.new_accounts,
      config.trusted_proxies,
      {config.uploads, most_upload_bytes(config), uploads ? &*uploads : nullptr, writers}};
  if (*http_listener) {
    fronts.push_back({std::move(**http_listener),
                      [&] { return std::make_unique<fileserver::HttpSession>(parts); },
                      &serve::busy_answer});
  }
  return serve::serve(std::move(fronts), options) ? 0 : 1;
}

}  // namespace

int main(int argc, char** argv) {
  const auto parsed = fileserver::read_config(argc, argv);
  if (const int* const exit_status = std::get_if<int>(&parsed)) return *exit_status;
  const auto& config = std::get<Config>(parsed);
  return serve::run_server("fileserver", config.log_level, [&] { return run(config); });
}
