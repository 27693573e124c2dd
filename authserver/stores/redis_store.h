// Accounts in Redis: the key is "user:NAME", the value the password record.
#pragma once

#include <utility>

#include "authserver/stores/redis_options.h"
#include "authserver/stores/store_backend.h"

namespace authserver {

// Durable as far as the server's appendonly and save settings go. prepare() reads them and logs
// what they mean; nothing here changes them.
//
// A store connects with its first request, and again after its connection was lost.
class RedisBackend : public StoreBackend {
 public:
  explicit RedisBackend(RedisOptions options = {}) : options_(std::move(options)) {}

  void declare_flags(flags::App& app) override;
  std::optional<std::string> read_secrets() override;
  guard::Allowed needs() const override;
  base::Status prepare(const StoreLimits& limits) const override;
  base::Result<std::unique_ptr<AccountStore>> open(const StoreLimits& limits) const override;

 private:
  RedisOptions options_;
};

}  // namespace authserver
