#include "authserver/stores/mysql_store.h"

#include <fmt/core.h>

#include <cstdlib>
#include <filesystem>
#include <functional>
#include <initializer_list>
#include <map>

#include "authserver/stores/mysql_link.h"
#include "base/log.h"
#include "flags/alternatives.h"
#include "flags/secrets.h"
#include "flags/values.h"
#include "sql/mysql.h"

namespace authserver {

namespace {

using base::Error;
using base::ErrorCode;

using Records = std::map<std::string, std::string, std::less<>>;  // of users

class MysqlStore : public AccountStore {
 public:
  // All but the limits must outlive it.
  MysqlStore(const MysqlOptions& options, net::ResolvedName& host, MysqlNodes& nodes,
             const StoreLimits& limits);

  base::Status create(const Account& account) override;
  base::Status replace(const Account& account) override;
  base::Status remove(std::string_view user) override;
  base::Status replace_if(const Account& account, std::string_view before) override;
  base::Result<std::string> find_record(std::string_view user) override;
  std::vector<base::Result<std::string>> find_records(
      std::span<const std::string_view> users) override;
  base::Status ping() override;
  base::Status for_each(const std::function<void(const Account&)>& visit) override;
  bool is_connected() const override { return link_.is_connected(); }
  void disconnect() override { link_.close(); }

 private:
  base::Status create_once(const Account& account);

  // Whether a change has failed because of another transaction, so that nothing was changed.
  bool is_lost_to_another(const base::Status& changed) const;
  base::Result<std::string> find_once(std::string_view user);
  base::Result<Records> find_all_once(const std::string& sql);
  base::Status connect_if_need_be() {
    return link_.is_connected() ? base::Status(base::kDone) : link_.connect();
  }

  // Carries out a statement on one account. kNotFound if it has found none.
  base::Status change(std::string_view sql, std::initializer_list<std::string_view> parameters);
  base::Status change_once(std::string_view sql,
                           std::initializer_list<std::string_view> parameters);

  const std::int64_t timeout_ms_;
  MysqlLink link_;
  MysqlStatement insert_;  // statements are destroyed before the connection
  MysqlStatement select_;
};

constexpr std::string_view kInsert = "INSERT INTO accounts (name, record) VALUES (?, ?)";
constexpr std::string_view kSelect = "SELECT record FROM accounts WHERE name = ?";

MysqlStore::MysqlStore(const MysqlOptions& options, net::ResolvedName& host, MysqlNodes& nodes,
                       const StoreLimits& limits)
    : timeout_ms_(limits.timeout_ms),
      link_(options, host, nodes, limits.timeout_ms),
      insert_(kInsert),
      select_(kSelect) {}

// If another transaction wins, the server says that nothing of ours has happened. So the account
// may be asked for again. On Galera, the first try meets the account of another node while it
// arrives here, and the second one finds it.
base::Status MysqlStore::create(const Account& account) {
  link_.close_if_stale();
  auto created = create_once(account);
  if (is_lost_to_another(created) && link_.has_given_way()) created = create_once(account);
  if (!is_lost_to_another(created)) return created;
  const Error lost = created.error();
  return find_once(account.user) ? Error{ErrorCode::kExists, "the user exists"} : lost;
}

bool MysqlStore::is_lost_to_another(const base::Status& changed) const {
  return !changed && changed.error().code == ErrorCode::kUnavailable && link_.is_connected() &&
         (link_.has_given_way() || link_.has_waited_for_lock());
}

base::Status MysqlStore::create_once(const Account& account) {
  if (const auto connected = connect_if_need_be(); !connected) return connected;
  const auto inserted = insert_.execute(link_, {account.user, account.record});
  if (inserted) return link_.end_transaction();
  // A refused INSERT may have opened a transaction, which locks the account until it ends. An error
  // of the server does not tell whether one is open.
  if (inserted.error().code == ErrorCode::kExists) {
    if (const auto ended = link_.turn_autocommit_on(); !ended) return ended;
  }
  return inserted;
}

base::Status MysqlStore::replace(const Account& account) {
  return change("UPDATE accounts SET record = ? WHERE name = ?", {account.record, account.user});
}

base::Status MysqlStore::remove(std::string_view user) {
  return change("DELETE FROM accounts WHERE name = ?", {user});
}

base::Status MysqlStore::replace_if(const Account& account, std::string_view before) {
  return change("UPDATE accounts SET record = ? WHERE name = ? AND record = ?",
                {account.record, account.user, before});
}

// If another transaction wins, nothing of ours has happened.
base::Status MysqlStore::change(std::string_view sql,
                                std::initializer_list<std::string_view> parameters) {
  link_.close_if_stale();
  auto changed = change_once(sql, parameters);
  if (is_lost_to_another(changed) && link_.has_given_way()) changed = change_once(sql, parameters);
  return changed;
}

base::Status MysqlStore::change_once(std::string_view sql,
                                     std::initializer_list<std::string_view> parameters) {
  if (const auto connected = connect_if_need_be(); !connected) return connected;
  MysqlStatement statement(sql);
  if (const auto executed = statement.execute(link_, parameters); !executed) return executed;
  const bool is_found = statement.rows_found() > 0;
  if (const auto ended = link_.end_transaction(); !ended) return ended;
  return is_found ? base::Status(base::kDone) : Error{ErrorCode::kNotFound, "no such user"};
}

base::Result<std::string> MysqlStore::find_record(std::string_view user) {
  return ask_again_if_stale(link_, timeout_ms_, [&] { return find_once(user); });
}

base::Result<std::string> MysqlStore::find_once(std::string_view user) {
  if (const auto connected = connect_if_need_be(); !connected) return connected.error();
  if (const auto executed = select_.execute(link_, {user}); !executed) return executed.error();
  auto record = select_.first_row(link_);
  // In an open transaction all later reads would see the accounts as they were at the first read.
  if (const auto ended = link_.end_transaction(); !ended) return ended.error();
  return record;
}

// The names are written as numbers, so that none of them is anything but a name.
std::string selection_of(std::span<const std::string_view> users) {
  std::string sql = "SELECT name, record FROM accounts WHERE name IN (";
  for (const std::string_view user : users) {
    sql += sql.ends_with('(') ? "x'" : ", x'";
    for (const char byte : user) sql += fmt::format("{:02x}", static_cast<unsigned char>(byte));
    sql += '\'';
  }
  return sql += ')';
}

std::vector<base::Result<std::string>> MysqlStore::find_records(
    std::span<const std::string_view> users) {
  std::vector<base::Result<std::string>> records;
  if (users.empty()) return records;
  const std::string sql = selection_of(users);
  auto found = ask_again_if_stale(link_, timeout_ms_, [&] { return find_all_once(sql); });
  for (const std::string_view user : users) {
    if (!found) {
      records.emplace_back(found.error());
    } else if (const auto one = found->find(user); one != found->end()) {
      records.emplace_back(one->second);
    } else {
      records.emplace_back(Error{ErrorCode::kNotFound, "no such user"});
    }
  }
  return records;
}

base::Result<Records> MysqlStore::find_all_once(const std::string& sql) {
  if (const auto connected = connect_if_need_be(); !connected) return connected.error();
  Records records;
  const auto done = link_.run(sql, [&](MYSQL_ROW row, const unsigned long* sizes) {
    if (row[0] == nullptr || row[1] == nullptr) return;
    records.insert_or_assign(std::string(row[0], sizes[0]), std::string(row[1], sizes[1]));
  });
  if (!done) return done.error();
  if (const auto ended = link_.end_transaction(); !ended) return ended.error();
  return records;
}

base::Status MysqlStore::ping() {
  const auto found = find_record("");
  if (found || found.error().code == ErrorCode::kNotFound) return base::kDone;
  return found.error();
}

base::Status MysqlStore::for_each(const std::function<void(const Account&)>& visit) {
  if (const auto reached = ping(); !reached) return reached;
  return link_.run("SELECT name, record FROM accounts",
                   [&](MYSQL_ROW row, const unsigned long* sizes) {
                     visit({{row[0], sizes[0]}, {row[1], sizes[1]}});
                   });
}

// Fails if the table is missing or the user may not read or add accounts. Touches no account.
base::Status may_ask(MysqlLink& link) {
  if (const auto prepared = MysqlStatement(kSelect).prepare(link); !prepared) return prepared;
  return MysqlStatement(kInsert).prepare(link);
}

// Fails if the table is not as in sql/mysql.sql. Other engines keep accounts in memory only, other
// types confuse names that differ in case, and shorter columns cut records off.
base::Status is_as_made_by_us(MysqlLink& link) {
  constexpr const char* kOfTable = " WHERE TABLE_SCHEMA = DATABASE() AND TABLE_NAME = 'accounts'";
  const std::string engine =
      link.value(std::string("SELECT ENGINE FROM information_schema.TABLES") + kOfTable);
  const std::string columns = link.value(
      std::string("SELECT GROUP_CONCAT(COLUMN_NAME, ' ', COLUMN_TYPE, ' ', COLUMN_KEY"
                  " ORDER BY ORDINAL_POSITION SEPARATOR ', ') FROM information_schema.COLUMNS") +
      kOfTable);
  if (engine == "InnoDB" && columns == "name varbinary(64) PRI, record varbinary(255) ")
    return base::kDone;
  return Error{ErrorCode::kInternal,
               "mysql: the table accounts must be as in sql/mysql.sql (InnoDB, name varbinary(64) "
               "PRI, record varbinary(255)), but it is " +
                   engine + ", " + columns};
}

bool is_galera(MysqlLink& link) { return link.value("SELECT @@wsrep_on") == "1"; }

// A node has sent the account to all others before it answers.
std::string meaning_on_galera(const std::string& flush) {
  if (flush == "1") return "on disk before OK (InnoDB), and sent to every other node (Galera)";
  return "sent to every other node before OK (Galera): lost if all of them fail within a second";
}

// With a binary log, recovery keeps only the commits that it finds there, so the log must reach the
// disk as well.
std::string meaning_of_durable(MysqlLink& link, const std::string& flush) {
  if (flush != "1") return "a crash may lose the last second of accounts";
  if (link.value("SELECT @@log_bin") != "0" && link.value("SELECT @@sync_binlog") != "1")
    return "the binary log is not synced (sync_binlog): a power cut may lose the last accounts";
  return "on disk before OK (InnoDB)";
}

void log_what_durable_means(MysqlLink& link, const MysqlOptions& options, bool are_galera) {
  const std::string flush = link.value("SELECT @@innodb_flush_log_at_trx_commit");
  const std::string meaning =
      are_galera ? meaning_on_galera(flush) : meaning_of_durable(link, flush);
  base::log::info(
      "accounts store=mysql server={} database={} durable=\"{}\" innodb_flush_log_at_trx_commit={}",
      link.value("SELECT VERSION()"), options.database, meaning, flush);
}

void warn_when_connections_are_short(MysqlLink& link, int most_connections) {
  const std::string limit = link.value("SELECT @@max_connections");
  if (limit.empty() || std::atoi(limit.c_str()) >= most_connections) return;
  base::log::warn(
      "the store allows fewer connections than this server may open max_connections={} "
      "hint=\"SET GLOBAL max_connections = {}\"",
      limit, most_connections);
}

}  // namespace

void MysqlBackend::declare_flags(flags::App& app) {
  app.group("MySQL or MariaDB");
  const auto forget_socket = [this] { options_.socket.clear(); };
  const auto take_hosts = [this](const std::string& names) {
    options_.host = names;
    return !split_hosts(names).empty();
  };
  auto* const host =
      app.add_parsed("--mysql-host", "HOST", "a host, or several with commas between them",
                     "host of the server; of several, which share --mysql-port, the next one is "
                     "tried if one is gone",
                     take_hosts);
  host->default_str(options_.host);
  flags::forget_when_taken(host, forget_socket);
  flags::forget_when_taken(
      flags::add_whole(app, "--mysql-port", options_.port, 1, 65535, "port of the server"),
      forget_socket);
  app.add_option("--mysql-socket", options_.socket,
                 "socket file of the server, instead of host and port; empty: no socket")
      ->type_name("FILE");
  app.add_option("--mysql-user", options_.user, "database user to log in as")
      ->type_name("NAME")
      ->capture_default_str();
  flags::add_secret(app, "--mysql-password", options_.password, options_.password_file);
  app.add_option("--mysql-database", options_.database, "name of the database")
      ->type_name("NAME")
      ->capture_default_str();
  flags::add_choice<MysqlTls>(
      app, "--mysql-tls", options_.tls, {{"off", MysqlTls::kOff}, {"on", MysqlTls::kOn}},
      "encrypt the connection; only --mysql-tls-ca verifies which server answers");
  flags::add_path(
      app, "--mysql-tls-ca", options_.tls_ca,
      "encrypt, and accept only a certificate that FILE has signed; it must name the host");
  flags::add_path(
      app, "--mysql-server-public-key", options_.server_public_key,
      "the server's RSA key; for caching_sha2_password without TLS; by default the server is "
      "asked for it");
}

std::optional<std::string> MysqlBackend::read_secrets() {
  if (options_.password_file.empty()) return {};
  auto password = flags::read_secret_file("--mysql-password-file", options_.password_file);
  if (!password) return password.error().context;
  options_.password = std::move(*password);
  return {};
}

// The client library loads ways to log in from the folders of libraries, and it reads the settings
// of the TLS library. The folders of the keys are allowed, not the files, because a renewed key is
// often a new file.
guard::Allowed MysqlBackend::needs(const StoreLimits& /*limits*/) const {
  guard::Allowed allowed;
  allowed.readable = {"/usr/lib",
                      "/lib",
                      "/lib64",
                      "/etc/ld.so.cache",
                      "/etc/ssl",
                      "/etc/gnutls",
                      "/etc/crypto-policies",
                      "/usr/share/mysql",
                      "/usr/share/mariadb",
                      "/dev/urandom"};
  for (const std::string& file : {options_.tls_ca, options_.server_public_key}) {
    if (!file.empty()) allowed.readable.push_back(std::filesystem::absolute(file).parent_path());
  }
  if (!options_.socket.empty()) return allowed;
  for (const std::string& host : split_hosts(options_.host))
    allowed.connect_to(host, static_cast<std::uint16_t>(options_.port));
  return allowed;
}

base::Status MysqlBackend::prepare(const StoreLimits& limits) const {
  net::ResolvedName host(name(), host_.resolver());
  MysqlLink link(options_, host, nodes_, limits.timeout_ms);
  // A node that has lost the others lets us log in, but then refuses each statement.
  base::Status ready = base::kDone;
  std::size_t hosts_left = split_hosts(options_.host).size();
  do {
    if (const auto connected = link.connect(); !connected) return connected;
    ready = may_ask(link);
  } while (!ready && !link.is_connected() && --hosts_left > 0);
  if (!ready) {
    // Tried only if the table cannot be used, because the user may lack the privilege to create
    // one.
    const auto made = link.run(sql::kMysql);
    if (!made)
      return Error{made.error().code,
                   ready.error().context + "; creating the table failed: " + made.error().context};
    ready = may_ask(link);
  }
  if (!ready) return ready;
  if (const auto checked = is_as_made_by_us(link); !checked) return checked;
  nodes_.are_galera = is_galera(link);
  log_what_durable_means(link, options_, nodes_.are_galera);
  warn_when_connections_are_short(link, limits.most_connections);
  return base::kDone;
}

std::string MysqlBackend::where() const {
  return "mysql " + (options_.socket.empty() ? net::to_string(name()) : options_.socket);
}

base::Result<std::unique_ptr<AccountStore>> MysqlBackend::open(const StoreLimits& limits) const {
  return std::unique_ptr<AccountStore>(new MysqlStore(options_, host_.at(name()), nodes_, limits));
}

}  // namespace authserver
