// Accounts in Redis: the key is "user:NAME", the value the password record.
#pragma once

#include <cstdint>
#include <mutex>
#include <optional>
#include <utility>

#include "authserver/stores/host_list.h"
#include "authserver/stores/redis_options.h"
#include "authserver/stores/redis_sentinels.h"
#include "authserver/stores/store_backend.h"
#include "flags/option.h"
#include "serve/shared_memory.h"

namespace authserver {

// Durable as far as the server's appendonly and save settings go. prepare() reads them and logs
// what they mean; nothing here changes them.
//
// A store connects with its first request, and again after its connection was lost. With sentinels
// it asks them each time where the primary is.
class RedisBackend : public StoreBackend {
 public:
  explicit RedisBackend(RedisOptions options = {},
                        net::ResolvedName::Resolver resolver = net::resolve)
      : options_(std::move(options)), host_(std::move(resolver)) {}

  void declare_flags(flags::App& app) override;
  std::optional<std::string> read_secrets() override;
  guard::Allowed needs(const StoreLimits& limits) const override;
  base::Status prepare(const StoreLimits& limits) const override;
  std::string where() const override;
  base::Result<std::unique_ptr<AccountStore>> open(const StoreLimits& limits) const override;

 private:
  net::HostPort name() const {
    if (!options_.socket.empty()) return {options_.socket, 0};
    return {options_.host, static_cast<std::uint16_t>(options_.port)};
  }

  void declare_tls_flags(flags::App& app);
  void declare_sentinel_flags(flags::App& app, flags::Option* host, flags::Option* socket);
  std::string where_in_log() const;
  base::Status read_certificates() const;

  // Those of this process, made with the first call, as the StoreHost. Null without sentinels.
  RedisSentinels* sentinels() const;

  RedisOptions options_;
  mutable StoreHost host_;
  const serve::Shared<SentinelsLearnt> learnt_;
  mutable std::once_flag are_sentinels_made_;
  mutable std::optional<RedisSentinels> sentinels_;
};

}  // namespace authserver
