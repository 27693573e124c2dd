// Several hosts of one store, such as --mysql-host db1,db2: nodes with the same accounts.
#pragma once

#include <atomic>
#include <cstddef>
#include <string>
#include <string_view>
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

}  // namespace authserver
