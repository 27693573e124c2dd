#include "tests/authserver/stores/reachable.h"

#include <atomic>
#include <cstdlib>
#include <random>

#include "authserver/stores/mysql_store.h"
#include "authserver/stores/redis_store.h"
#include "authserver/stores/sqlite_store.h"
#include "tests/temporary_folder.h"

namespace tests {

namespace {

// Empty if the runner has not set it.
std::string variable(const std::string& name) {
  const char* const value = std::getenv(name.c_str());
  return value == nullptr ? "" : value;
}

ReachableStore prepared(std::string name, std::unique_ptr<authserver::StoreBackend> backend) {
  const auto status = backend->prepare({});
  if (!status) throw std::runtime_error(name + ": " + status.error().context);
  return {std::move(name), std::move(backend)};
}

// Adds a server that the runner has started: PREFIX_PORT says where it listens.
template <typename Backend, typename Options>
void add_started(std::vector<ReachableStore>& stores, const char* name, const std::string& prefix) {
  const std::string port = variable(prefix + "_PORT");
  if (port.empty()) return;
  Options options;
  options.port = std::stoi(port);
  options.password = variable(prefix + "_PASSWORD");
  stores.push_back(prepared(name, std::make_unique<Backend>(options)));
}

std::vector<ReachableStore> find_stores(const TemporaryFolder& folder) {
  using namespace authserver;
  std::vector<ReachableStore> stores;
  const SqliteOptions sqlite{.path = folder.path("accounts.db")};
  stores.push_back(prepared("sqlite", std::make_unique<SqliteBackend>(sqlite)));
  add_started<MysqlBackend, MysqlOptions>(stores, "mysql", "TURNSTILE_TEST_MYSQL");
  add_started<RedisBackend, RedisOptions>(stores, "redis", "TURNSTILE_TEST_REDIS");
  return stores;
}

}  // namespace

const std::vector<ReachableStore>& reachable_stores() {
  static const TemporaryFolder folder;
  static const std::vector<ReachableStore> stores = find_stores(folder);
  return stores;
}

std::string fresh_user() {
  static const unsigned run = std::random_device()();
  static std::atomic<int> count = 0;
  return "u" + std::to_string(run) + "-" + std::to_string(++count) + "-";
}

}  // namespace tests
