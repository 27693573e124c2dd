// The configuration of a fileserver: plain values, with their defaults.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>
#include <vector>

#include "base/log.h"
#include "fileserver/auth/auth_options.h"
#include "fileserver/auth/guess_throttle.h"
#include "fileserver/files/opened_file.h"
#include "fileserver/offer.h"
#include "fileserver/rights/lock_client.h"
#include "fileserver/transfers/transfer_log.h"
#include "fileserver/trusted_proxy.h"
#include "net/address.h"
#include "serve/options.h"
#include "tls/key_pair.h"

namespace fileserver {

// Whether files are read into memory at start, or from disk for each request.
enum class FilesMode { kPrefetch, kDisk };

struct Config {
  net::HostPort listen{"127.0.0.1", 9000};
  std::optional<net::HostPort> http_listen;   // nothing: no HTTP in clear
  std::optional<net::HostPort> https_listen;  // nothing: no HTTP in TLS
  std::optional<net::HostPort> tls_listen;    // nothing: no native protocol in TLS
  tls::Files tls;                             // empty: nothing is encrypted
  int tls_handshakes = 512;                   // under way at once
  Offer offer;
  serve::Options serve{.spare = 32};
  base::log::Level log_level = base::log::Level::kInfo;

  AuthOptions auth;
  GuessThrottle::Limits throttle;

  int accounts_per_address = 100;  // see SignUp; 0: no limit
  std::string rights_path;         // of the file for Rights; empty: every user may do everything
  std::string show_rights_of;      // instead of serving; empty: serve
  LockQuestion locks;              // instead of serving, if asks_for_locks()
  TrustedProxies trusted_proxies;  // in front of the HTTP front
  std::vector<std::string> http_hosts;  // see HttpHosts

  int trash_days = 0;  // see Trash; 0: nothing is kept

  std::string root = "files";
  FilesMode files = FilesMode::kPrefetch;
  std::int64_t memory_limit_bytes = 0;           // set to half of RAM by read_config()
  bool evicts = true;                            // see MemoryRule
  std::int64_t read_bytes = kDefaultPieceBytes;  // of one read of a file on disk
  bool has_read_ahead = true;
  std::int64_t send_buffer_bytes = 0;  // of each connection; 0: as the system thinks best

  TransferLogOptions transfer_log;

  bool speaks_tls() const { return encrypts() || auth.is_encrypted; }
  bool encrypts() const { return https_listen || tls_listen; }
  bool serves_http() const { return http_listen || https_listen; }
  bool asks_for_locks() const { return !locks.server.empty() || !locks.end.empty(); }
};

// Reads the command line, the environment and the --config file. Returns the exit status instead
// when the program has nothing more to do: after --help, --version and wrong usage.
std::variant<Config, int> read_config(int argc, char** argv);

}  // namespace fileserver
