#include "fileserver/parts.h"

#include <signal.h>

#include <algorithm>
#include <filesystem>
#include <limits>
#include <stdexcept>
#include <system_error>
#include <utility>

#include "base/hangup_signal.h"
#include "base/log.h"
#include "base/stop_signals.h"
#include "base/waits.h"
#include "fileserver/config.h"
#include "fileserver/files/disk_files.h"
#include "fileserver/files/prefetched_files.h"
#include "fileserver/transfers/transfer_file.h"
#include "guard/sandbox.h"
#include "net/local_listener.h"
#include "serve/startup.h"
#include "telemetry/endpoint.h"

namespace fileserver {

namespace {

constexpr std::int64_t kMsPerS = 1000;

// A part that cannot be made ends the start. serve::run_server() prints the reason.
template <typename T>
T required(base::Result<T> made) {
  if (!made) throw std::runtime_error(made.error().context);
  return std::move(*made);
}

net::Listener bound(const Config& config, const net::HostPort& address) {
  return required(net::bind_to(address, serve::io_slice_ms(config.serve.idle_timeout_ms),
                               static_cast<int>(config.send_buffer_bytes)));
}

std::optional<net::Listener> bound_if_set(const Config& config,
                                          const std::optional<net::HostPort>& address) {
  if (!address) return {};
  return bound(config, *address);
}

std::optional<net::HostPort> address_of(const std::optional<net::Listener>& listener) {
  if (!listener) return {};
  return listener->address;
}

serve::Options options_of(const Config& config) {
  serve::Options options = config.serve;
  for (const auto* const further : {&config.http_listen, &config.https_listen, &config.tls_listen})
    options.fronts += *further ? 1 : 0;
  return options;
}

// What the fileserver needs once it runs. All that it opens later must be named here.
guard::Allowed allowed_for(const Config& config, const Fence& fence) {
  guard::Allowed allowed;
  const bool may_change = config.offer.uploads == UploadMode::kFolder;
  allowed.calls.set_modes = may_change;
  (may_change ? allowed.editable : allowed.readable).push_back(fence.root_path());
  if (config.serve.sandbox != serve::Sandbox::kStrict) {
    if (auto above = fence.folder_above()) allowed.readable.push_back(std::move(*above));
  }
  if (!config.rights_path.empty()) {
    std::error_code ignored;  // what cannot be found cannot be read, which is reported
    const auto file = std::filesystem::weakly_canonical(config.rights_path, ignored);
    allowed.readable.push_back(file.parent_path());  // as an editor makes a new file
  }
  const auto& hop = config.auth.tls;
  tls::allow_reading(
      {config.tls.certificate, config.tls.key, hop.authorities, hop.own.certificate, hop.own.key},
      allowed.readable);
  if (!config.transfer_log.path.empty()) {
    for (auto& path : paths_of_log(config.transfer_log.path))
      allowed.writable.push_back(std::move(path));
  }
  allowed.connect_to(config.auth.address.host, config.auth.address.port);
  allowed.listen_on(config.listen);
  if (config.http_listen) allowed.listen_on(*config.http_listen);
  if (config.https_listen) allowed.listen_on(*config.https_listen);
  if (config.tls_listen) allowed.listen_on(*config.tls_listen);
  return allowed;
}

// Read as --user and in the sandbox, so that what can be read now can be read again at SIGHUP.
std::unique_ptr<tls::ServerContext> open_tls(const Config& config) {
  if (config.tls.key.empty()) return {};
  tls::Files files = config.tls;
  const std::string why_not = files.in_kernel ? tls::why_not_in_kernel() : std::string();
  if (!why_not.empty()) {
    base::log::warn("--tls-kernel: this kernel does not encrypt, so OpenSSL does: {}", why_not);
    files.in_kernel = false;
  }
  return required(tls::ServerContext::open(std::move(files)));
}

std::unique_ptr<tls::ClientContext> open_auth_tls(const AuthOptions& auth) {
  if (!auth.is_encrypted) return {};
  auto made = std::make_unique<tls::ClientContext>(auth.tls, "turnstile");
  required(made->open());
  return made;
}

std::optional<serve::Encryption> encryption_of(tls::ServerContext* context, tls::Spoken spoken,
                                               serve::Handshakes& handshakes) {
  if (context == nullptr) return {};
  return serve::Encryption{*context, spoken, handshakes};
}

// A hangup never ends the server. Processes have only rights and certificates to read again.
net::Fd open_hangups(const Config& config) {
  const bool has_files = !config.rights_path.empty() || config.speaks_tls();
  if (config.serve.model != serve::Model::kProcess || has_files)
    return net::Fd(base::open_hangup_signal());
  ::signal(SIGHUP, SIG_IGN);
  return {};
}

std::unique_ptr<TransferLog> open_transfer_log(const Config& config, const Fence& fence) {
  if (config.transfer_log.path.empty()) return {};
  return required(TransferLog::open(config.transfer_log, fence.root_path()));
}

// What cannot be looked at now may be there.
bool is_there(const Fence& fence, std::string_view name) {
  const auto folder = fence.find_folder(name);
  if (folder || folder.error().code != base::ErrorCode::kNotFound) return true;
  const auto file = fence.status_of(name, Fence::Links::kFollowed);
  return file || file.error().code != base::ErrorCode::kNotFound;
}

// A log-in waits for its turn and then asks the authserver, and each of these ends with the
// time-out. A place that is older than both, with some time for a busy machine, belongs to a
// process that died.
std::int64_t forget_places_after_ns(const Config& config) {
  if (config.serve.model != serve::Model::kProcess) return 0;
  constexpr std::int64_t kBusyMs = 5'000;
  return (2 * config.auth.timeout_ms + kBusyMs) * base::kNsPerMs;
}

GuessThrottle::Limits limits_of_guesses(const Config& config) {
  GuessThrottle::Limits limits = config.throttle;
  limits.forget_places_after_ns = forget_places_after_ns(config);
  return limits;
}

SignUp::Limits limits_of_accounts(const Config& config) {
  return {config.accounts_per_address, config.throttle.addresses, config.auth.timeout_ms,
          forget_places_after_ns(config)};
}

Rights::SharedWith shared_with(const Config& config) {
  return config.serve.model == serve::Model::kProcess ? Rights::SharedWith::kChildren
                                                      : Rights::SharedWith::kNobody;
}

// One of somebody who may not write there any more would keep out those who may.
void end_locks_without_rights(Parts& parts) {
  std::optional<std::string> behind;
  for (;;) {
    const std::int64_t now_ns = base::now_ns();
    const auto some = parts.locks.some_behind(behind, now_ns);
    if (some.empty()) return;
    for (const Lock& lock : some) {
      if (!may_have(parts.rights.of(lock.user), lock))
        parts.locks.remove(lock.token, lock.name, lock.user, now_ns);
    }
    behind = some.back().name;
  }
}

void read_again(Parts& parts) {
  parts.rights.read_again();
  end_locks_without_rights(parts);
  if (parts.tls) static_cast<void>(parts.tls->read_again());
  if (parts.auth_tls) static_cast<void>(parts.auth_tls->read_again());
}

std::unique_ptr<serve::OnHangup> act_on_hangup(const Config& config, Parts& parts) {
  if (!parts.hangups.is_open()) return {};
  if (parts.options.model == serve::Model::kProcess) {  // the parent has no further thread
    parts.options.hangups = parts.hangups.get();
    parts.options.on_hangup = [&parts] { read_again(parts); };
    return {};
  }
  return std::make_unique<serve::OnHangup>(std::move(parts.hangups), [&config, &parts] {
    if (parts.transfer_log) parts.transfer_log->open_again();
    read_again(parts);
    if (!parts.transfer_log && !config.speaks_tls() && config.rights_path.empty())
      base::log::info("SIGHUP: there is nothing to open or to read again");
  });
}

std::unique_ptr<Files> open_files(const Config& config, std::shared_ptr<const Fence> fence,
                                  MountWatch mounts) {
  const DiskReads reads{static_cast<std::size_t>(config.read_bytes), config.has_read_ahead};
  if (config.files == FilesMode::kDisk) return std::make_unique<DiskFiles>(std::move(fence), reads);
  return std::make_unique<PrefetchedFiles>(
      std::move(fence), MemoryRule{config.memory_limit_bytes, config.evicts},
      [] { return !base::stop_was_asked_for(); }, std::move(mounts),
      config.serve.model != serve::Model::kProcess ? Updates::kByThread : Updates::kNone, reads);
}

std::unique_ptr<Trash> open_trash(const Config& config, std::shared_ptr<const Fence> fence) {
  if (config.trash_days == 0 || base::stop_was_asked_for()) return {};
  return required(Trash::open(std::move(fence), config.trash_days));
}

// They look through the whole folder, for which a server that was told to stop has no time.
std::unique_ptr<Uploads> open_uploads(const Config& config, std::shared_ptr<const Fence> fence,
                                      Files& files, Trash* trash) {
  if (config.offer.uploads != UploadMode::kFolder || base::stop_was_asked_for()) return {};
  return std::make_unique<Uploads>(std::move(fence), files, trash);
}

std::unique_ptr<PartialUploads> open_partial_uploads(const Config& config,
                                                     std::shared_ptr<const Fence> fence,
                                                     const Uploads* uploads, Trash* trash) {
  if (uploads == nullptr || !config.serves_http()) return {};
  PartialUploads::Limits limits;
  limits.keep_s = config.offer.parts_keep_ms / kMsPerS;
  return std::make_unique<PartialUploads>(std::move(fence), limits, trash);
}

// Only WebDAV makes locks.
net::Fd open_lock_listener(const Config& config) {
  const bool has_locks = config.serves_http() && config.offer.uploads == UploadMode::kFolder;
  return has_locks ? open_for_locks() : net::Fd();
}

std::unique_ptr<LockService> serve_locks(net::Fd listener, Locks& locks) {
  if (!listener.is_open()) return {};
  return std::make_unique<LockService>(std::move(listener), locks);
}

AuthOptions options_of_health(AuthOptions auth) {
  auth.timeout_ms = std::min(auth.timeout_ms, telemetry::kHealthMs);
  return auth;
}

}  // namespace

Parts::Parts(const Config& config)
    : offer(config.offer),
      trusted_proxies(config.trusted_proxies),
      listener(bound(config, config.listen)),
      http_listener(bound_if_set(config, config.http_listen)),
      http_address(address_of(http_listener)),
      http_hosts(config.http_hosts, config.http_listen),
      https_listener(bound_if_set(config, config.https_listen)),
      https_address(address_of(https_listener)),
      https_hosts(config.http_hosts, config.https_listen),
      tls_listener(bound_if_set(config, config.tls_listen)),
      tls_address(address_of(tls_listener)),
      options(options_of(config)),
      telemetry(required(serve::TelemetryService::open(options))),
      user_is_set(required(serve::become_user(options))),
      is_authserver_missing(net::is_nobody_listening_at(config.auth.address)),
      fence(std::make_shared<const Fence>(required(Fence::around(config.root)))),
      lock_listener(open_lock_listener(config)),
      mounts(MountWatch::open()),
      sandbox(serve::enter_sandbox(options, allowed_for(config, *fence))),
      tls(open_tls(config)),
      auth_tls(open_auth_tls(config.auth)),
      handshakes(std::in_place, config.tls_handshakes),
      https(encryption_of(tls.get(), tls::Spoken::kHttp, *handshakes)),
      lines_in_tls(encryption_of(tls.get(), tls::Spoken::kLines, *handshakes)),
      hangups(open_hangups(config)),
      transfer_log(open_transfer_log(config, *fence)),
      rights(config.rights_path, shared_with(config),
             [this](std::string_view name) { return is_there(*fence, name); }),
      rights_are_read(required(rights.read())),
      on_hangup(act_on_hangup(config, *this)),
      files(open_files(config, fence, std::move(mounts))),
      trash(open_trash(config, fence)),
      uploads(open_uploads(config, fence, *files, trash.get())),
      partial_uploads(open_partial_uploads(config, fence, uploads.get(), trash.get())),
      lock_service(serve_locks(std::move(lock_listener), locks)),
      listings_memory(std::int64_t{32} << 20),
      zips_memory(std::int64_t{128} << 20),
      auth(config.auth, net::resolve, AuthAddresses::OutageLog::kOn, {}, auth_tls.get()),
      health_options(options_of_health(config.auth)),
      health(health_options, net::resolve, AuthAddresses::OutageLog::kOff, {}, auth_tls.get()),
      health_beyond_limit([this] { return health.ask(wire::Ping{}).ok(); }),
      throttle(limits_of_guesses(config)),
      log_in(auth, throttle, config.auth.timeout_ms),
      sign_up(auth, config.trusted_proxies, limits_of_accounts(config)),
      stops_telemetry(telemetry.get()) {}

bool Parts::is_reserved(std::string_view user) const {
  if (rights.has(user)) return true;
  const auto homes = rights.homes(user);
  const auto is_there = [this](const std::string& home) {
    const auto found = fence->status_of_readable(home);
    if (found || found.error().code != base::ErrorCode::kNotFound) return true;
    return trash != nullptr && trash->has_of(home);
  };
  return !homes.empty() && base::may_block([&] { return std::ranges::any_of(homes, is_there); });
}

std::uint64_t Parts::most_upload_bytes() const {
  if (offer.max_upload_bytes == 0) return std::numeric_limits<std::uint64_t>::max();
  return static_cast<std::uint64_t>(offer.max_upload_bytes);
}

}  // namespace fileserver
