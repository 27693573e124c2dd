// Accounts in MySQL or MariaDB, in the table of sql/mysql.sql.
#pragma once

#include <cstdint>
#include <utility>

#include "authserver/stores/host_list.h"
#include "authserver/stores/mysql_options.h"
#include "authserver/stores/store_backend.h"

namespace authserver {

// Durable: InnoDB with autocommit, so create() returns after the commit. What a commit is worth
// depends on the server's innodb_flush_log_at_trx_commit and sync_binlog, which prepare() reads.
//
// A store connects with its first request, and again after its connection was lost.
class MysqlBackend : public StoreBackend {
 public:
  explicit MysqlBackend(MysqlOptions options = {},
                        net::ResolvedName::Resolver resolver = net::resolve)
      : options_(std::move(options)), host_(resolver_of_all(std::move(resolver))) {}

  void declare_flags(flags::App& app) override;
  std::optional<std::string> read_secrets() override;
  guard::Allowed needs(const StoreLimits& limits) const override;
  base::Status prepare(const StoreLimits& limits) const override;
  std::string where() const override;
  base::Result<std::unique_ptr<AccountStore>> open(const StoreLimits& limits) const override;

 private:
  net::HostPort name() const { return {options_.host, static_cast<std::uint16_t>(options_.port)}; }

  MysqlOptions options_;
  mutable StoreHost host_;
  mutable MysqlNodes nodes_;
};

}  // namespace authserver
