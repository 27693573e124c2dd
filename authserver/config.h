// The settings of an authserver, as plain values.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <variant>

#include "authserver/account_task.h"
#include "authserver/passwords/scheme.h"
#include "authserver/stores/store_backend.h"
#include "base/log.h"
#include "net/address.h"
#include "serve/options.h"
#include "tls/key_pair.h"

namespace authserver {

struct Config {
  net::HostPort listen{"127.0.0.1", 9001};
  std::optional<net::HostPort> tls_listen;  // nothing: fileservers ask in clear only
  tls::Files tls;
  std::string tls_client_ca;  // who has issued the certificates of fileservers
  int tls_handshakes = 512;   // under way at once
  serve::Options serve{.spare = 32};
  base::log::Level log_level = base::log::Level::kInfo;

  StoreConfig store;
  AccountTask task;  // what is done instead of serving

  Scheme password_scheme = Scheme::kArgon2id;
  std::int64_t verified_memo_ms = 900'000;  // 0: argon2id is computed for each request
  int hashes_at_once = 0;                   // read_config() replaces 0 by the number of cores
};

// Reads the command line, the environment and the --config file. Returns the exit status instead
// where the program ends at once: after --help, --version, or wrong usage, which has been printed.
std::variant<Config, int> read_config(int argc, char** argv);

}  // namespace authserver
