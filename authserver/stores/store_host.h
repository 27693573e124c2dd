// The host of a store, such as --redis-host, with its addresses.
#pragma once

#include <mutex>
#include <optional>
#include <utility>

#include "net/resolved_name.h"

namespace authserver {

// Shared by all stores of one process, so that they look the name up together. It learns the name
// with its first use, because the flags are read after it is made.
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
