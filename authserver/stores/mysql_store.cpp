#include "authserver/stores/mysql_store.h"

#include <cstdlib>

#include "base/log.h"
#include "sql/mysql.h"

namespace authserver {

namespace {

using base::Error;
using base::ErrorCode;

constexpr std::string_view kInsert = "INSERT INTO accounts (name, record) VALUES (?, ?)";
constexpr std::string_view kSelect = "SELECT record FROM accounts WHERE name = ?";

// Whether the table is there and we have the privileges, without touching an account.
base::Status may_ask(MysqlLink& link) {
  if (const auto prepared = MysqlStatement(kSelect).prepare(link); !prepared) return prepared;
  return MysqlStatement(kInsert).prepare(link);
}

void log_what_durable_means(MysqlLink& link, const MysqlConfig& config) {
  const std::string flush = link.value("SELECT @@innodb_flush_log_at_trx_commit");
  const char* const meaning =
      flush == "1" ? "on disk before OK (InnoDB)" : "a crash may lose the last second of accounts";
  base::log::info(
      "accounts store=mysql server={} database={} durable=\"{}\" innodb_flush_log_at_trx_commit={}",
      link.value("SELECT VERSION()"), config.database, meaning, flush);
}

void warn_when_connections_are_short(MysqlLink& link, int most_connections) {
  const std::string limit = link.value("SELECT @@max_connections");
  if (limit.empty() || std::atoi(limit.c_str()) >= most_connections) return;
  base::log::warn(
      "the store allows fewer connections than --max-connections may ask for max_connections={} "
      "hint=\"SET GLOBAL max_connections = {}\"",
      limit, most_connections);
}

}  // namespace

MysqlStore::MysqlStore(const StoreConfig& config)
    : config_(config), link_(config), insert_(kInsert), select_(kSelect) {}

base::Status MysqlStore::prepare(const StoreConfig& config) {
  MysqlLink link(config);
  if (const auto connected = link.connect(); !connected) return connected;
  auto ready = may_ask(link);
  if (!ready) {
    // Who may not make tables is fine where somebody else has made this one.
    const auto made = link.run(sql::kMysql);
    if (!made)
      return Error{made.error().code,
                   ready.error().context + "; to make the table: " + made.error().context};
    ready = may_ask(link);
  }
  if (!ready) return ready;
  log_what_durable_means(link, config.mysql);
  warn_when_connections_are_short(link, config.most_connections);
  return base::kDone;
}

base::Status MysqlStore::create(const Account& account) {
  link_.close_if_stale();
  if (!link_.is_connected()) {
    if (const auto connected = link_.connect(); !connected) return connected;
  }
  if (const auto inserted = insert_.execute(link_, {account.user, account.record}); !inserted)
    return inserted;
  return link_.end_transaction();
}

base::Result<std::string> MysqlStore::find_record(std::string_view user) {
  return ask_again_if_stale(link_, config_.timeout_ms, [&] { return find_once(user); });
}

base::Result<std::string> MysqlStore::find_once(std::string_view user) {
  if (!link_.is_connected()) {
    if (const auto connected = link_.connect(); !connected) return connected.error();
  }
  if (const auto executed = select_.execute(link_, {user}); !executed) return executed.error();
  auto record = select_.first_row(link_);
  // Else all later ones would see what was there at the first one.
  if (const auto ended = link_.end_transaction(); !ended) return ended.error();
  return record;
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

}  // namespace authserver
