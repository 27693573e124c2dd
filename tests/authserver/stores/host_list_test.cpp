#include "authserver/stores/host_list.h"

#include <string>
#include <vector>

#include "tests/catch.h"

using namespace authserver;
using net::ResolvedName;

namespace {

using Hosts = std::vector<std::string>;

// Knows the hosts "one", "two" and "both".
ResolvedName::Found look_up(const net::HostPort& name) {
  const auto address = [&](const std::string& host) {
    const auto all = net::resolve({host, name.port});
    REQUIRE(all);
    return all->front();
  };
  using Addresses = std::vector<net::SocketAddress>;
  if (name.host == "one") return Addresses{address("127.0.0.1")};
  if (name.host == "two") return Addresses{address("127.0.0.2")};
  if (name.host == "both") return Addresses{address("127.0.0.1"), address("127.0.0.2")};
  return base::Error{base::ErrorCode::kUnavailable, "nobody knows " + name.host};
}

std::string found(const std::string& names) {
  const auto all = resolver_of_all(look_up)({names, 7});
  if (!all) return all.error().context;
  std::string text;
  for (const auto& address : *all)
    text += address.host() + ":" + std::to_string(address.port()) + " ";
  return text;
}

}  // namespace

TEST_CASE("hosts are separated by commas, and none is empty", "[stores]") {
  CHECK(split_hosts("db") == Hosts{"db"});
  CHECK(split_hosts("db1,::1,10.0.0.1") == Hosts{"db1", "::1", "10.0.0.1"});
  for (const char* const wrong : {"", ",", "db1,", ",db1", "db1,,db2"})
    CHECK(split_hosts(wrong).empty());
}

TEST_CASE("the addresses of all hosts that are known are tried in their order", "[stores]") {
  CHECK(found("one,two") == "127.0.0.1:7 127.0.0.2:7 ");
  CHECK(found("two,both") == "127.0.0.2:7 127.0.0.1:7 127.0.0.2:7 ");
  CHECK(found("none,two,none") == "127.0.0.2:7 ");
  CHECK(found("none,nobody") == "nobody knows nobody");
}

TEST_CASE("the address that worked last is tried first, unless it refuses", "[stores]") {
  PreferredAddress preferred;
  CHECK(preferred.first_of(3) == 0);
  preferred.has_worked(2);
  CHECK(preferred.first_of(3) == 2);
  preferred.has_refused(1);  // by a connection that is older
  CHECK(preferred.first_of(3) == 2);
  preferred.has_refused(2);
  CHECK(preferred.first_of(3) == 0);
}
