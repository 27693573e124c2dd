// Accounts in Redis: key "user:NAME", value the password record.
#pragma once

#include "authserver/stores/account_store.h"
#include "authserver/stores/redis_link.h"
#include "authserver/stores/store_config.h"

namespace authserver {

// Durable as the server's own setting says; prepare() logs what that means. Connects with the first
// request, and again when the connection was lost.
class RedisStore : public AccountStore {
 public:
  explicit RedisStore(const StoreConfig& config) : config_(config), link_(config) {}

  static base::Status prepare(const StoreConfig& config);

  base::Status create(const Account& account) override;
  base::Result<std::string> find_record(std::string_view user) override;
  base::Status ping() override;
  base::Status for_each(const std::function<void(const Account&)>& visit) override;

 private:
  base::Result<RedisLink::Reply> ask_repeatable(RedisLink::Words words);
  std::string setting(std::string_view name);
  std::string meaning_of_durable();

  const StoreConfig& config_;
  RedisLink link_;
};

}  // namespace authserver
