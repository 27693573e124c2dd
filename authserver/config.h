// What the user decides about an authserver: plain values.
#pragma once

#include <cstdint>
#include <string>
#include <variant>

#include "authserver/passwords/scheme.h"
#include "authserver/stores/store_backend.h"
#include "base/log.h"
#include "net/address.h"
#include "serve/options.h"

namespace authserver {

enum class Model { kThread, kProcess };

// Instead of serving: write all accounts to a file, or take them from one. At most one is named;
// "-" is standard output or input.
struct Move {
  bool is_wanted() const { return !export_to.empty() || !import_from.empty(); }

  std::string export_to;
  std::string import_from;
};

struct Config {
  net::HostPort listen{"127.0.0.1", 9001};
  serve::Options serve{.spare = 32};
  base::log::Level log_level = base::log::Level::kInfo;
  Model model = Model::kThread;

  StoreConfig store;
  Move move;

  Scheme password_scheme = Scheme::kArgon2id;
  std::int64_t verified_memo_ms = 900'000;  // 0: every verification is computed
  int hashes_at_once = 0;                   // 0: one for each core
};

// Reads the command line, the environment and the --config file. Returns the exit status instead
// where the program ends at once: after --help, --version, or wrong usage, which has been printed.
std::variant<Config, int> read_config(int argc, char** argv);

}  // namespace authserver
