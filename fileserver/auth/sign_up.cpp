#include "fileserver/auth/sign_up.h"

#include <utility>

namespace fileserver {

using base::Error;
using base::ErrorCode;

bool SignUp::has_limit(const net::IpAddress& peer) const {
  const bool is_on_this_machine = peer.is_loopback() || peer == net::IpAddress();
  return !is_on_this_machine || is_trusted_proxy(proxies_, peer);
}

SignUp::Answer SignUp::make(const From& from, wire::Credentials account) {
  const wire::New request{account};
  if (!has_limit(from.peer)) return {auth_.ask(request)};
  auto attempt = throttle_.begin(from.client, account, patience_ms_);
  switch (attempt.admission()) {
    case GuessThrottle::Admission::kAsk: break;
    case GuessThrottle::Admission::kTooMany:
      return {Error{ErrorCode::kBusy, "too many new accounts from " + from.client.text()}, true};
    case GuessThrottle::Admission::kNoPlace:
      return {Error{ErrorCode::kUnavailable, "the accounts under way from " + from.client.text() +
                                                 " were not made in time"}};
  }
  auto status = auth_.ask(request);
  if (status) attempt.made();
  return {std::move(status)};
}

}  // namespace fileserver
