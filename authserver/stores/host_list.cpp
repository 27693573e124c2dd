#include "authserver/stores/host_list.h"

#include <utility>

namespace authserver {

std::vector<std::string> split_hosts(std::string_view names) {
  std::vector<std::string> hosts;
  for (;;) {
    const std::size_t comma = names.find(',');
    if (names.substr(0, comma).empty()) return {};
    hosts.emplace_back(names.substr(0, comma));
    if (comma == std::string_view::npos) return hosts;
    names.remove_prefix(comma + 1);
  }
}

net::ResolvedName::Resolver resolver_of_all(net::ResolvedName::Resolver resolve) {
  return [resolve = std::move(resolve)](const net::HostPort& names) {
    std::vector<net::SocketAddress> all;
    net::ResolvedName::Found last = all;
    for (const std::string& host : split_hosts(names.host)) {
      last = resolve({host, names.port});
      if (last) all.insert(all.end(), last->begin(), last->end());
    }
    return all.empty() ? last : net::ResolvedName::Found(all);
  };
}

}  // namespace authserver
