#include "authserver/config.h"

#include <algorithm>
#include <cmath>
#include <optional>
#include <utility>
#include <vector>

#include "authserver/passwords/hash_lanes.h"
#include "base/host.h"
#include "flags/alternatives.h"
#include "flags/parse.h"
#include "flags/values.h"
#include "serve/flags.h"
#include "wire/request.h"

namespace authserver {

namespace {

// What the flags write into. --store chooses one of the backends.
struct Target {
  Config config;
  std::vector<NamedBackend> backends = make_store_backends();
  std::size_t chosen_backend = 0;
};

void declare_basics(flags::App& app, Target& target) {
  app.group("Basics");
  flags::add_address(app, "--listen", target.config.listen,
                     "address that fileservers connect to; port 0 picks a free port");
  flags::add_optional_address(
      app, "--tls-listen", target.config.tls_listen,
      "address for fileservers in TLS; beside --listen, and only for those with a certificate of "
      "--tls-client-ca; needs --tls-certificate and --tls-key too");
  std::vector<std::pair<std::string, std::size_t>> choices;
  for (const NamedBackend& one : target.backends) choices.emplace_back(one.name, choices.size());
  flags::add_choice<std::size_t>(app, "--store", target.chosen_backend, choices,
                                 "where accounts are stored; a missing table is created");
}

void declare_limits(flags::App& app, Config& config) {
  app.group("Limits");
  flags::add_seconds(app, "--store-timeout", config.store.limits.timeout_ms,
                     "how long to wait for the store before replying `unavailable`", 1);
  flags::add_seconds(
      app, "--verified-memo", config.verified_memo_ms,
      "how long a verified password is remembered; 0: compute argon2id for each request");
  flags::add_whole(app, "--hashes-at-once", config.hashes_at_once, 0,
                   static_cast<int>(HashLanes::kMostLanes),
                   "password hashes computed at the same time; 0: one per core; each takes 19 MiB");
}

void declare_encryption(flags::App& app, Config& config) {
  serve::add_encryption(app, config.tls, config.tls_handshakes, flags::Shown::kInFullHelp);
  flags::add_path(app, "--tls-client-ca", config.tls_client_ca,
                  "who issues the certificates of fileservers, in PEM; a client without one gets "
                  "no connection at --tls-listen; SIGHUP reads it again")
      ->type_name("FILE");
}

void declare_measuring(flags::App& app, Config& config) {
  serve::group_to_measure(app);
  flags::add_choice<StoreConnection>(
      app, "--store-connection", config.store.connection,
      {{"persistent", StoreConnection::kPersistent}, {"per-request", StoreConnection::kPerRequest}},
      "keep the connection to the store, or make a new one for each request");
  flags::add_choice<Scheme>(
      app, "--password-scheme", config.password_scheme,
      {{"argon2id", Scheme::kArgon2id}, {"plain", Scheme::kPlain}},
      "how passwords of new accounts are stored; existing accounts keep their scheme");
}

// All of them write into the one task, so the flag of the highest layer counts.
void declare_tasks(flags::App& app, AccountTask& task) {
  using Kind = AccountTask::Kind;
  app.group("Accounts, instead of serving");
  std::vector<flags::Option*> options;
  const auto add = [&](const char* name, Kind kind, const char* help, bool is_of_user) {
    const auto take = [&task, kind, is_of_user](const std::string& text) {
      if (is_of_user ? !wire::is_valid_user(text) : text.empty()) return false;
      task.kind = kind;
      task.operand = text;
      return true;
    };
    options.push_back(app.add_parsed(
        name, is_of_user ? "USER" : "FILE",
        is_of_user ? "a user name: 1 to 64 of A-Z a-z 0-9 . _ - @ +" : "a path", help, take));
  };
  add("--export", Kind::kExport,
      "export all accounts to FILE as CSV and exit; `-` is standard output", false);
  add("--import", Kind::kImport, "import the accounts in FILE and exit; `-` is standard input",
      false);
  add("--list-accounts", Kind::kList,
      "write the names of all accounts to FILE and exit; `-` is standard output", false);
  add("--add-account", Kind::kAdd,
      "create the account USER and exit; its password is the first line of standard input", true);
  add("--remove-account", Kind::kRemove, "remove the account USER and exit", true);
  add("--set-password", Kind::kSetPassword,
      "change the password of USER and exit; the new one is the first line of standard input",
      true);
  add("--disable-account", Kind::kDisable,
      "deny the password and the sessions of USER until --enable-account, and exit", true);
  add("--enable-account", Kind::kEnable, "undo --disable-account and exit", true);
  add("--make-admin", Kind::kMakeAdmin, "make USER an administrator and exit", true);
  add("--unmake-admin", Kind::kUnmakeAdmin, "undo --make-admin and exit", true);
  add("--invite", Kind::kInvite,
      "print a link to set the password of USER and exit; it works once, within three days", true);
  flags::exclude_each_other(options);
  app.add_flag("--create-store", task.creates_store,
               "let --add-account make the SQLite file if it is not there yet");
}

void declare(flags::App& app, Target& target) {
  Config& config = target.config;
  declare_basics(app, target);
  for (const NamedBackend& one : target.backends) one.backend->declare_flags(app);
  declare_tasks(app, config.task);
  declare_encryption(app, config);
  declare_limits(app, config);
  app.group("Logs and telemetry");
  flags::add_log_level(app, config.log_level);
  serve::add_options(app, config.serve, "--spare-workers");
  serve::group_security(app);
  using serve::Sandbox;
  flags::add_choice<Sandbox>(app, "--sandbox", config.serve.sandbox,
                             {{"on", Sandbox::kOn}, {"off", Sandbox::kOff}},
                             "whether the process can reach only its store; off: all that its user "
                             "can, for debugging");
  declare_measuring(app, config);
}

flags::Program program() {
  return {"authserver",
          "Checks users' passwords for fileservers, and stores the accounts.\n\n"
          "Once the server can serve, it prints one line, READY and its addresses, on standard "
          "output. The log is on standard error. SIGTERM and SIGINT stop the server after the "
          "requests under way. SIGHUP reads the certificates again. With one of the flags that "
          "change or show accounts it does only that, and ends.",
          {{"Keep the accounts in a file", "authserver --sqlite-path accounts.db"},
           {"Make the account amy, whose password is typed or piped in",
            "authserver --sqlite-path accounts.db --create-store --add-account amy"},
           {"Keep them in MySQL, which scripts/setup-mysql has prepared",
            "authserver --store mysql --mysql-password-file /etc/turnstile/mysql-password"}},
          8,
          {"fileserver(8)", "loadgen(1)", "sqlite3(1)", "mysql(1)", "redis-cli(1)"}};
}

std::optional<std::string> wrong_for_tls(const Config& config) {
  const bool has_all =
      !config.tls.certificate.empty() && !config.tls.key.empty() && !config.tls_client_ca.empty();
  const bool has_any =
      !config.tls.certificate.empty() || !config.tls.key.empty() || !config.tls_client_ca.empty();
  if (config.tls_listen && !has_all)
    return "--tls-listen needs --tls-certificate, --tls-key and --tls-client-ca";
  if (!config.tls_listen && has_any)
    return "--tls-certificate, --tls-key and --tls-client-ca need --tls-listen";
  return {};
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
  const auto done = flags::parse(
      program(), argc, argv, [&](flags::App& app) { declare(app, target); },
      [&](flags::App&) {
        if (auto wrong = wrong_for_tls(target.config)) return wrong;
        return read_secrets(target.backends);
      });
  if (done) return *done;
  Config& config = target.config;
  if (config.hashes_at_once == 0) {
    config.hashes_at_once = std::min(static_cast<int>(std::ceil(base::usable_cores())),
                                     static_cast<int>(HashLanes::kMostLanes));
  }
  config.store.limits.most_connections =
      config.task.is_wanted() ? 1 : config.serve.max_connections + config.serve.spare;
  config.store.backend = std::move(target.backends[target.chosen_backend].backend);
  return std::move(config);
}

}  // namespace authserver
