// How the stores that have a server find it by its name.
#include <cstdlib>
#include <future>
#include <memory>
#include <string>
#include <vector>

#include "authserver/stores/mysql_store.h"
#include "authserver/stores/redis_store.h"
#include "tests/catch.h"

using namespace authserver;
using net::ResolvedName;

namespace {

using Found = ResolvedName::Found;

// The port of the server that the runner has started, or 0.
int port_of(const char* variable) {
  const char* const port = std::getenv(variable);
  return port == nullptr ? 0 : std::stoi(port);
}

std::unique_ptr<StoreBackend> redis(int port, ResolvedName::Resolver resolver) {
  RedisOptions options;
  options.host = "a-name";
  options.port = port;
  return std::make_unique<RedisBackend>(options, std::move(resolver));
}

std::unique_ptr<StoreBackend> mysql(int port, ResolvedName::Resolver resolver,
                                    const std::string& tls_ca = "") {
  MysqlOptions options;
  options.host = "a-name";
  options.port = port;
  if (const char* const password = std::getenv("TURNSTILE_TEST_MYSQL_PASSWORD"))
    options.password = password;
  options.tls_ca = tls_ca;
  return std::make_unique<MysqlBackend>(options, std::move(resolver));
}

std::string failure_of(const base::Status& status) {
  return status ? "no failure" : status.error().context;
}

}  // namespace

TEST_CASE("a name server that hangs holds a request to a store no longer than --store-timeout",
          "[stores]") {
  std::promise<void> may_answer;
  const std::shared_future<void> answer = may_answer.get_future().share();
  const auto hang = [answer](const net::HostPort&) -> Found {
    answer.wait();
    return base::Error{base::ErrorCode::kUnavailable, "too late"};
  };
  std::vector<std::unique_ptr<StoreBackend>> backends;
  backends.push_back(redis(1, hang));
  backends.push_back(mysql(1, hang));
  backends.push_back(mysql(1, hang, "ca.pem"));
  for (const auto& backend : backends) {
    StoreLimits limits;
    limits.timeout_ms = 20;
    const auto store = backend->open(limits);
    CHECK(failure_of((*store)->ping()).find("the name server does not answer") !=
          std::string::npos);
    CHECK(failure_of(backend->prepare(limits)).find("the name server does not answer") !=
          std::string::npos);
  }
  may_answer.set_value();
}

TEST_CASE("all addresses of a store's name are tried in their order", "[stores]") {
  const auto two_addresses = [](const net::HostPort& name) -> Found {
    auto both = net::resolve({"127.0.0.9", name.port});  // nobody listens there
    both->push_back(net::resolve({"127.0.0.1", name.port})->front());
    return both;
  };
  std::vector<std::unique_ptr<StoreBackend>> backends;
  if (const int port = port_of("TURNSTILE_TEST_REDIS_PORT")) {
    backends.push_back(redis(port, two_addresses));
  }
  if (const int port = port_of("TURNSTILE_TEST_MYSQL_PORT")) {
    backends.push_back(mysql(port, two_addresses));
  }
  for (const auto& backend : backends) {
    CHECK(failure_of((*backend->open({}))->ping()) == "no failure");
  }
}
