// Accounts in Redis: the key is "user:NAME", the value the password record.
#pragma once

#include <cstdint>
#include <utility>

#include "authserver/stores/redis_options.h"
#include "authserver/stores/store_backend.h"
#include "authserver/stores/store_host.h"

namespace authserver {

// Durable as far as the server's appendonly and save settings go. prepare() reads them and logs
// what they mean; nothing here changes them.
//
// A store connects with its first request, and again after its connection was lost.
class RedisBackend : public StoreBackend {
 public:
  explicit RedisBackend(RedisOptions options = {},
                        net::ResolvedName::Resolver resolver = net::resolve)
      : options_(std::move(options)), host_(std::move(resolver)) {}

  void declare_flags(flags::App& app) override;
  std::optional<std::string> read_secrets() override;
  guard::Allowed needs() const override;
  base::Status prepare(const StoreLimits& limits) const override;
  std::string where() const override;
  base::Result<std::unique_ptr<AccountStore>> open(const StoreLimits& limits) const override;

 private:
  net::HostPort name() const {
    if (!options_.socket.empty()) return {options_.socket, 0};
    return {options_.host, static_cast<std::uint16_t>(options_.port)};
  }

  RedisOptions options_;
  mutable StoreHost host_;
};

}  // namespace authserver
