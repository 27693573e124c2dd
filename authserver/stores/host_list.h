// The host of a store, such as --redis-host, with its addresses, or several, such as --mysql-host
// db1,db2: nodes with the same accounts.
#pragma once

#include <atomic>
#include <cstddef>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "net/resolved_name.h"

namespace authserver {

// The names between the commas, in their order. Empty if one of them is.
std::vector<std::string> split_hosts(std::string_view names);

// Looks up the addresses of all hosts, in their order. A host that is not known is left out, unless
// none is known. `resolve` looks up one of them.
net::ResolvedName::Resolver resolver_of_all(net::ResolvedName::Resolver resolve);

// Which of several addresses is tried first: the one that worked last, so that not everybody waits
// for one that is gone. Any thread.
class PreferredAddress {
 public:
  std::size_t first_of(std::size_t count) const { return count == 0 ? 0 : first_ % count; }
  void has_worked(std::size_t index) { first_ = index; }

  // The address answers, and refuses what it should do. The next one is tried first from now on,
  // unless somebody has found another one already.
  void has_refused(std::size_t index) { first_.compare_exchange_strong(index, index + 1); }

 private:
  std::atomic<std::size_t> first_ = 0;
};

// The host of a store. Shared by all stores of one process, so that they look the name up together.
// It learns the name with its first use, because the flags are read after it is made.
//
// Any thread. In the process model the parent must not use at(): a look-up that is under way during
// a fork never ends in the child.
class StoreHost {
 public:
  // net::ResolvedName says how `resolver` is used.
  explicit StoreHost(net::ResolvedName::Resolver resolver) : resolver_(std::move(resolver)) {}

  // The host with the name of the first call. It lives as long as this object.
  net::ResolvedName& at(const net::HostPort& name) {
    std::call_once(is_made_, [&] { host_.emplace(name, resolver_); });
    return *host_;
  }

  // For a host of its own, such as the parent's.
  const net::ResolvedName::Resolver& resolver() const { return resolver_; }

 private:
  const net::ResolvedName::Resolver resolver_;
  std::once_flag is_made_;
  std::optional<net::ResolvedName> host_;
};

}  // namespace authserver
