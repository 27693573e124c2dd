// What the settings of Redis mean for accounts that were acknowledged, in words for the log.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>
#include <string>
#include <string_view>

#include "authserver/stores/redis_options.h"

namespace authserver {

// The value of one CONFIG setting. Empty if the server does not tell it.
using RedisSetting = std::function<std::string(std::string_view name)>;

// What it takes for the server to lose an account.
std::string meaning_of_settings(const RedisSetting& setting);

// What becomes of an account when a replica takes the place of the server. `replicas` is how many
// there are now; nothing if the server does not tell. Empty if nothing of ours changes servers.
std::string meaning_of_failover(const RedisOptions& options, std::optional<std::size_t> replicas);

}  // namespace authserver
