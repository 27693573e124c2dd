#include "authserver/config.h"

#include <sched.h>

#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include "authserver/passwords/hash_lanes.h"
#include "authserver/stores/store_table.h"
#include "flags/alternatives.h"
#include "flags/parse.h"
#include "flags/values.h"
#include "serve/flags.h"

namespace authserver {

namespace {

// What the flags write into. --store chooses one of the backends.
struct Target {
  Config config;
  std::vector<NamedBackend> backends = make_store_backends();
  std::size_t chosen_backend = 0;
};

void declare_stores(flags::App& app, Target& target) {
  std::vector<std::pair<std::string, std::size_t>> choices;
  for (const NamedBackend& one : target.backends) choices.emplace_back(one.name, choices.size());
  StoreConfig& store = target.config.store;
  flags::add_choice<std::size_t>(app, "--store", target.chosen_backend, choices,
                                 "where accounts are kept; a table that is missing is made");
  flags::add_choice<StoreConnection>(
      app, "--store-connection", store.connection,
      {{"persistent", StoreConnection::kPersistent}, {"per-request", StoreConnection::kPerRequest}},
      "keep the connection to the store, or make one for every request, the paper's way");
  flags::add_seconds(app, "--store-timeout", store.limits.timeout_ms,
                     "for the store's answer; then `unavailable`", 1);
  for (const NamedBackend& one : target.backends) one.backend->declare_flags(app);
}

void declare_passwords(flags::App& app, Config& config) {
  flags::add_choice<Scheme>(app, "--password-scheme", config.password_scheme,
                            {{"argon2id", Scheme::kArgon2id}, {"plain", Scheme::kPlain}},
                            "how NEW accounts are kept; any record can be verified at any time");
  flags::add_seconds(
      app, "--verified-memo", config.verified_memo_ms,
      "how long a verified credential is remembered; 0: argon2id is computed every time");
  flags::add_whole(app, "--hashes-at-once", config.hashes_at_once, 0,
                   static_cast<int>(HashLanes::kMostLanes),
                   "password hashes computed at once, 19 MiB each; 0: one for each core");
}

void declare_transfer(flags::App& app, AccountTransfer& transfer) {
  flags::Option* const out =
      app.add_option("--export", transfer.export_to,
                     "instead of serving, write all accounts to FILE as CSV; -: here");
  flags::Option* const in =
      app.add_option("--import", transfer.import_from,
                     "instead of serving, make the accounts that FILE lists; -: here");
  out->type_name("FILE");
  in->type_name("FILE");
  flags::make_alternatives({out, [&transfer] { transfer.export_to.clear(); }},
                           {in, [&transfer] { transfer.import_from.clear(); }});
}

void declare(flags::App& app, Target& target) {
  Config& config = target.config;
  flags::add_address(app, "--listen", config.listen,
                     "where fileservers connect; port 0: any free one");
  flags::add_choice<Model>(app, "--model", config.model,
                           {{"thread", Model::kThread}, {"process", Model::kProcess}},
                           "one thread, or one process, owns a connection");
  declare_stores(app, target);
  declare_passwords(app, config);
  declare_transfer(app, config.transfer);
  serve::add_options(app, config.serve, "--spare-workers");
  flags::add_log_level(app, config.log_level);
}

int usable_cores() {
  cpu_set_t cores;
  return ::sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
}

std::optional<std::string> read_secrets(const std::vector<NamedBackend>& backends) {
  for (const NamedBackend& one : backends) {
    if (auto wrong = one.backend->read_secrets()) return wrong;
  }
  return {};
}

}  // namespace

std::variant<Config, int> read_config(int argc, char** argv) {
  Target target;
  const flags::Program program{
      "authserver", "Says whether a user's password is right, and keeps the accounts that say so."};
  const auto done = flags::parse(
      program, argc, argv, [&](flags::App& app) { declare(app, target); },
      [&] { return read_secrets(target.backends); });
  if (done) return *done;
  Config& config = target.config;
  if (config.hashes_at_once == 0) {
    config.hashes_at_once = std::min(usable_cores(), static_cast<int>(HashLanes::kMostLanes));
  }
  config.store.limits.most_connections = config.serve.max_connections + config.serve.spare;
  config.store.backend = std::move(target.backends[target.chosen_backend].backend);
  return std::move(config);
}

}  // namespace authserver
