#include "authserver/stores/redis_durable.h"

#include <fmt/core.h>

namespace authserver {

namespace {

// What the server does to accounts that it has acknowledged, if its settings let it lose them while
// it runs. Empty if they do not. Keys here never expire, so only the policies "allkeys-..." remove
// them.
std::string meaning_of_eviction(const RedisSetting& setting) {
  const std::string policy = setting("maxmemory-policy");
  if (!policy.starts_with("allkeys") || setting("maxmemory") == "0") return {};
  return "maxmemory-policy " + policy +
         ": accounts are lost when the memory is full, and others may take their names";
}

std::string meaning_of_always(const RedisSetting& setting) {
  if (setting("no-appendfsync-on-rewrite") == "no") return "appendonly always: on disk before OK";
  return "appendonly always with no-appendfsync-on-rewrite: a power cut while the server saves or "
         "rewrites its files may lose accounts";
}

}  // namespace

std::string meaning_of_settings(const RedisSetting& setting) {
  if (auto evicted = meaning_of_eviction(setting); !evicted.empty()) return evicted;
  const std::string append_only = setting("appendonly");
  if (append_only == "yes") {
    const std::string fsync = setting("appendfsync");
    if (fsync == "always") return meaning_of_always(setting);
    if (fsync == "everysec")
      return "appendonly everysec: a power cut may lose the last second of accounts";
    return "appendonly " + fsync +
           ": a power cut may lose accounts that the system has not written yet";
  }
  if (append_only == "no") {
    const std::string save = setting("save");
    if (save.empty()) return "no persistence: accounts are lost when the server stops";
    return "snapshots only (save " + save +
           "): accounts since the last one are lost when the server dies";
  }
  return "unknown, because the server does not disclose its settings";
}

std::string meaning_of_failover(const RedisOptions& options, std::optional<std::size_t> replicas) {
  const auto wait = static_cast<std::size_t>(options.wait);
  const bool may_fail_over = !options.sentinels.empty();
  if (wait == 0 && !may_fail_over) return {};
  if (wait == 0)
    return "replication is asynchronous: a failover may lose the last accounts, unless "
           "--redis-wait";
  if (!replicas) return fmt::format("{} replicas have an account before OK", wait);
  if (wait > *replicas)
    return fmt::format("no OK before {} replicas have an account, and there are {}", wait,
                       *replicas);
  auto waits = fmt::format("{} of {} replicas have an account before OK", wait, *replicas);
  if (!may_fail_over) return waits;
  return waits + (wait < *replicas ? ": a failover to one that lags may lose the last accounts"
                                   : ": a failover loses none");
}

}  // namespace authserver
