#include "authserver/config.h"

#include <sched.h>

#include <algorithm>
#include <optional>

#include "authserver/passwords/hash_lanes.h"
#include "flags/alternatives.h"
#include "flags/parse.h"
#include "flags/secrets.h"
#include "flags/values.h"
#include "serve/flags.h"

namespace authserver {

namespace {

void declare_sqlite(flags::App& app, SqliteConfig& sqlite) {
  app.add_option("--sqlite-path", sqlite.path, "the accounts file")
      ->type_name("FILE")
      ->capture_default_str();
}

void declare_mysql(flags::App& app, MysqlConfig& mysql) {
  const auto forget_socket = [&mysql] { mysql.socket.clear(); };
  flags::Option* const host = app.add_option("--mysql-host", mysql.host, "MySQL or MariaDB server");
  host->type_name("HOST")->capture_default_str();
  flags::forget_when_taken(host, forget_socket);
  flags::forget_when_taken(flags::add_whole(app, "--mysql-port", mysql.port, 1, 65535, "its port"),
                           forget_socket);
  app.add_option("--mysql-socket", mysql.socket, "its socket file, instead of host and port")
      ->type_name("FILE");
  app.add_option("--mysql-user", mysql.user, "log in as this user")
      ->type_name("NAME")
      ->capture_default_str();
  flags::add_secret(app, "--mysql-password", mysql.password, mysql.password_file);
  app.add_option("--mysql-database", mysql.database, "the database")
      ->type_name("NAME")
      ->capture_default_str();
  flags::add_choice<MysqlTls>(
      app, "--mysql-tls", mysql.tls, {{"off", MysqlTls::kOff}, {"on", MysqlTls::kOn}},
      "encrypt the connection; for a server that proves who it is, use --mysql-tls-ca");
  app.add_option(
         "--mysql-tls-ca", mysql.tls_ca,
         "encrypt, and trust only a certificate that FILE has signed and that names the host")
      ->type_name("FILE");
  app.add_option("--mysql-server-public-key", mysql.server_public_key,
                 "the server's RSA key for caching_sha2_password without TLS; else the server is "
                 "asked for it")
      ->type_name("FILE");
}

void declare_redis(flags::App& app, RedisConfig& redis) {
  app.add_option("--redis-host", redis.host, "Redis server")
      ->type_name("HOST")
      ->capture_default_str();
  flags::add_whole(app, "--redis-port", redis.port, 1, 65535, "its port");
  flags::add_secret(app, "--redis-password", redis.password, redis.password_file);
  flags::add_whole(app, "--redis-database", redis.database, 0, 1'000'000, "the database's number");
}

void declare_store(flags::App& app, StoreConfig& store) {
  flags::add_choice<StoreKind>(
      app, "--store", store.kind,
      {{"sqlite", StoreKind::kSqlite}, {"mysql", StoreKind::kMysql}, {"redis", StoreKind::kRedis}},
      "where accounts are kept; a table that is missing is made");
  flags::add_choice<StoreConnection>(
      app, "--store-connection", store.connection,
      {{"persistent", StoreConnection::kPersistent}, {"per-request", StoreConnection::kPerRequest}},
      "keep the connection to the store, or make one for every request, the paper's way");
  flags::add_seconds(app, "--store-timeout", store.timeout_ms,
                     "for the store's answer; then `unavailable`", 1);
  declare_sqlite(app, store.sqlite);
  declare_mysql(app, store.mysql);
  declare_redis(app, store.redis);
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

void declare_move(flags::App& app, Move& move) {
  flags::Option* const out = app.add_option(
      "--export", move.export_to, "instead of serving, write all accounts to FILE as CSV; -: here");
  flags::Option* const in =
      app.add_option("--import", move.import_from,
                     "instead of serving, make the accounts that FILE lists; -: here");
  out->type_name("FILE");
  in->type_name("FILE");
  flags::make_alternatives({out, [&move] { move.export_to.clear(); }},
                           {in, [&move] { move.import_from.clear(); }});
}

void declare(flags::App& app, Config& config) {
  flags::add_address(app, "--listen", config.listen,
                     "where fileservers connect; port 0: any free one");
  flags::add_choice<Model>(app, "--model", config.model,
                           {{"thread", Model::kThread}, {"process", Model::kProcess}},
                           "one thread, or one process, owns a connection");
  declare_store(app, config.store);
  declare_passwords(app, config);
  declare_move(app, config.move);
  serve::add_options(app, config.serve, "--spare-workers");
  flags::add_log_level(app, config.log_level);
}

int usable_cores() {
  cpu_set_t cores;
  return ::sched_getaffinity(0, sizeof cores, &cores) == 0 ? CPU_COUNT(&cores) : 1;
}

std::optional<std::string> read_secrets(StoreConfig& store) {
  if (auto wrong = flags::read_secret_file("--mysql-password-file", store.mysql.password_file,
                                           store.mysql.password)) {
    return wrong;
  }
  return flags::read_secret_file("--redis-password-file", store.redis.password_file,
                                 store.redis.password);
}

}  // namespace

std::variant<Config, int> read_config(int argc, char** argv) {
  Config config;
  const flags::Program program{
      "authserver", "Says whether a user's password is right, and keeps the accounts that say so."};
  const auto done = flags::parse(
      program, argc, argv, [&](flags::App& app) { declare(app, config); },
      [&] { return read_secrets(config.store); });
  if (done) return *done;
  if (config.hashes_at_once == 0) {
    config.hashes_at_once = std::min(usable_cores(), static_cast<int>(HashLanes::kMostLanes));
  }
  config.store.most_connections = config.serve.max_connections + config.serve.spare;
  return config;
}

}  // namespace authserver
