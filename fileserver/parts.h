// What a fileserver is made of.
#pragma once

#include <cstdint>
#include <memory>
#include <optional>
#include <string_view>
#include <variant>

#include "base/clock.h"
#include "base/result.h"
#include "fileserver/auth/auth_client.h"
#include "fileserver/auth/auth_options.h"
#include "fileserver/auth/guess_throttle.h"
#include "fileserver/auth/log_in.h"
#include "fileserver/auth/sign_up.h"
#include "fileserver/files/digests.h"
#include "fileserver/files/fence.h"
#include "fileserver/files/files.h"
#include "fileserver/files/long_changes.h"
#include "fileserver/files/memory_budget.h"
#include "fileserver/files/mount_watch.h"
#include "fileserver/files/partial_uploads.h"
#include "fileserver/files/trash.h"
#include "fileserver/files/uploads.h"
#include "fileserver/health_beyond_limit.h"
#include "fileserver/http_hosts.h"
#include "fileserver/offer.h"
#include "fileserver/rights/lock_service.h"
#include "fileserver/rights/locks.h"
#include "fileserver/rights/rights.h"
#include "fileserver/transfers/transfer_log.h"
#include "fileserver/trusted_proxy.h"
#include "guard/sandbox.h"
#include "net/fd.h"
#include "net/listen.h"
#include "serve/encrypted.h"
#include "serve/on_hangup.h"
#include "serve/options.h"
#include "serve/shared_memory.h"
#include "serve/telemetry_service.h"
#include "tls/client_context.h"
#include "tls/server_context.h"

namespace fileserver {

struct Config;

// The parts stand in the order in which they are made, because each needs what a later one gives
// up: the rights that a port may need, then those that the sandbox takes. They are destroyed in the
// opposite order. Owned by main, which shares them with all sessions.
//
// Threads: any, once the server listens.
struct Parts {
  // Makes all of them, but nobody can connect yet. Prefetching may take long; it ends early when
  // the server is told to stop. Throws std::exception with the reason if a part cannot be made.
  // `config` must outlive the parts.
  explicit Parts(const Config& config);
  Parts(const Parts&) = delete;
  Parts& operator=(const Parts&) = delete;

  const Offer& offer;
  const TrustedProxies& trusted_proxies;

  // A port in use is reported before anything else. Connections are refused until the server
  // listens, because nobody would answer them.
  net::Listener listener;
  std::optional<net::Listener> http_listener;  // nothing without --http-listen
  const std::optional<net::HostPort> http_address;
  const HttpHosts http_hosts;
  std::optional<net::Listener> https_listener;  // nothing without --https-listen
  const std::optional<net::HostPort> https_address;
  const HttpHosts https_hosts;
  std::optional<net::Listener> tls_listener;  // nothing without --tls-listen
  const std::optional<net::HostPort> tls_address;
  UnnamedProxy unnamed_proxy;
  serve::Options options;
  const std::unique_ptr<serve::TelemetryService> telemetry;  // null: it is off

  const std::monostate user_is_set;  // what follows is opened as --user
  const bool is_authserver_missing;  // the sandbox forbids to look
  const std::shared_ptr<const Fence> fence;
  net::Fd lock_listener;  // for lock_service; the sandbox forbids to open it
  MountWatch mounts;      // the sandbox forbids to open it; prefetched files take it over
  const base::Result<guard::Restricted> sandbox;

  const std::unique_ptr<tls::ServerContext> tls;       // null: nothing is encrypted
  const std::unique_ptr<tls::ClientContext> auth_tls;  // null: the authserver is asked in clear
  const serve::Shared<serve::Handshakes> handshakes;
  const std::optional<serve::Encryption> https;
  const std::optional<serve::Encryption> lines_in_tls;

  net::Fd hangups;  // if it is open, SIGHUP is blocked in all threads
  const std::unique_ptr<TransferLog> transfer_log;  // null: there is no such log
  Rights rights;                                    // who may read and write what
  const std::monostate rights_are_read;
  Locks locks;                                       // of WebDAV
  const std::unique_ptr<serve::OnHangup> on_hangup;  // uses what stands before it

  const std::unique_ptr<Files> files;
  Digests digests;
  const std::unique_ptr<Trash> trash;      // null: what is deleted is gone
  const std::unique_ptr<Uploads> uploads;  // set with UploadMode::kFolder

  const std::unique_ptr<PartialUploads> partial_uploads;  // set with that mode and HTTP

  const std::unique_ptr<LockService> lock_service;  // null: there are never any
  LongChanges long_changes;

  MemoryBudget listings_memory;  // of large listings under way
  MemoryBudget zips_memory;      // of the names in zips under way

  AuthClient auth;
  const AuthOptions health_options;  // the time-out is less than a second
  AuthClient health;                 // for a health check
  HealthBeyondLimit health_beyond_limit;
  GuessThrottle throttle;
  LogIn log_in;
  SignUp sign_up;

  const serve::StopsTelemetry stops_telemetry;  // before what it tells about goes

  // Whether nobody may make an account of this name here: the rights name it, or its home is there
  // or in the trash, which belongs to a user of before.
  bool is_reserved(std::string_view user) const;

  // Of the body of one request.
  std::uint64_t most_upload_bytes() const;

  // The time for the transfer log; 0 without one.
  std::int64_t time_for_log() const { return transfer_log == nullptr ? 0 : base::now_ns(); }

  // Whether there is a transfer log that says who it was.
  bool logs_users() const { return transfer_log != nullptr && transfer_log->has_users(); }
};

}  // namespace fileserver
