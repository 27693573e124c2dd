// What guests may do with a link: docs/protocol.md, "Links".
#pragma once

#include <cstdint>
#include <string>
#include <string_view>

#include "authserver/stores/account_store.h"
#include "authserver/tokens.h"
#include "base/result.h"

namespace authserver {

// A link as a guest has it.
struct VisitedLink {
  std::string id;
  std::string maker;
  std::string path;
  LinkTerms terms;
  bool is_closed = false;  // it has a password, and this secret is not that of it
};

enum class Visit : std::uint8_t {
  kLooks,
  kUses,    // counts one use
  kGoesOn,  // has begun a use: that it was the last one does not matter
};

// Looks at the link of a token, and with kUses counts one use of it, which is durable then. Of a
// link that is closed no use is counted. kDenied, after as many questions to the store in each
// case, for a link that never was, has ended, has no use left, or is one of an account that is
// gone, is disabled or has another password now. Requires: wire::is_token(token).
base::Result<VisitedLink> visit_link(AccountStore& store, SharedTokenState& shared,
                                     std::string_view token, std::string_view secret, Visit visit);

}  // namespace authserver
