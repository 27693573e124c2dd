#include "fileserver/http/still_allowed.h"

#include <utility>

#include "fileserver/http/exchange.h"
#include "fileserver/http/validated.h"
#include "fileserver/parts.h"

namespace fileserver {

LogIn::Answer ask_again(const Exchange& exchange, Parts& parts, const http::RequestHead& head) {
  if (exchange.guest) return ask_again_for_guest(exchange, parts);
  return validate(exchange, parts, RequestCredentials(head)).answer;
}

bool StillAllowed::holds() {
  if (denied_ || forbidden_) return false;
  if (base::now_ns() - exchange_.validated_ns < kFreshNs) return true;
  if (auto answer = ask_again(exchange_, parts_, head_); !answer.status) {
    denied_ = std::move(answer);
    return false;
  }
  forbidden_ = refusal_by_rights();
  return !forbidden_;
}

RightsRefusal StillAllowed::refusal_by_rights() const {
  const UserRights rights = rights_of(exchange_, parts_);
  if (put_) return refusal_to_put(rights, put_->name);
  const auto refusal = refusal_to_change(exchange_, rights);
  return refusal || !target_ ? refusal : refusal_of_target(rights, *target_);
}

bool StillAllowed::answers_refusal(Exchange& exchange) const {
  if (denied_ && denied_->is_throttled) {
    exchange.answer(429);
  } else if (denied_ && exchange.guest &&
             denied_->status.error().code == base::ErrorCode::kDenied) {
    exchange.answer(404);
  } else if (denied_) {
    exchange.answer(denied_->status.error());
  } else if (forbidden_) {
    exchange.answer(*forbidden_);
  }
  return denied_ || forbidden_;
}

}  // namespace fileserver
