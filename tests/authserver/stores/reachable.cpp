#include "tests/authserver/stores/reachable.h"

#include <atomic>
#include <cstdlib>
#include <random>

#include "tests/catch.h"
#include "tests/temporary_folder.h"

namespace tests {

namespace {

ReachableStore prepared(std::string name, const authserver::StoreConfig& config) {
  const auto status = authserver::prepare_store(config);
  if (!status) throw std::runtime_error(name + ": " + status.error().context);
  return {std::move(name), config};
}

// Empty when the runner says nothing.
std::string variable(const char* name) {
  const char* const value = std::getenv(name);
  return value == nullptr ? "" : value;
}

authserver::StoreConfig sqlite_in(const TemporaryFolder& folder) {
  authserver::StoreConfig config;
  config.sqlite.path = folder.path("accounts.db");
  return config;
}

authserver::StoreConfig mysql_at(const std::string& port) {
  authserver::StoreConfig config;
  config.kind = authserver::StoreKind::kMysql;
  config.mysql.port = std::stoi(port);
  config.mysql.password = variable("TURNSTILE_TEST_MYSQL_PASSWORD");
  return config;
}

authserver::StoreConfig redis_at(const std::string& port) {
  authserver::StoreConfig config;
  config.kind = authserver::StoreKind::kRedis;
  config.redis.port = std::stoi(port);
  config.redis.password = variable("TURNSTILE_TEST_REDIS_PASSWORD");
  return config;
}

}  // namespace

const std::vector<ReachableStore>& reachable_stores() {
  static const TemporaryFolder folder;
  static const std::vector<ReachableStore> stores = [] {
    std::vector<ReachableStore> found;
    found.push_back(prepared("sqlite", sqlite_in(folder)));
    const std::string mysql_port = variable("TURNSTILE_TEST_MYSQL_PORT");
    const std::string redis_port = variable("TURNSTILE_TEST_REDIS_PORT");
    if (!mysql_port.empty()) found.push_back(prepared("mysql", mysql_at(mysql_port)));
    if (!redis_port.empty()) found.push_back(prepared("redis", redis_at(redis_port)));
    return found;
  }();
  return stores;
}

std::string fresh_user() {
  static const unsigned run = std::random_device()();
  static std::atomic<int> count = 0;
  return "u" + std::to_string(run) + "-" + std::to_string(++count) + "-";
}

}  // namespace tests
