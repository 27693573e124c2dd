// Whether a request that takes long may still do what it was allowed to do when it began.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "fileserver/auth/log_in.h"
#include "fileserver/http/permitted.h"
#include "http/request_head.h"

namespace fileserver {

class Exchange;
struct Parts;

// Asks the authserver again about the credentials in the head. They are those of the request, maybe
// in a copy. May block.
LogIn::Answer ask_again(const Exchange& exchange, Parts& parts, const http::RequestHead& head);

// Looks at the account and the rights of a PUT, DELETE, MOVE, COPY or LOCK again, right before it
// takes effect. Threads: one at a time.
class StillAllowed {
 public:
  // A request that is younger is not looked at again.
  static constexpr std::int64_t kFreshNs = 2 * base::kNsPerS;

  // `target` is that of MOVE and COPY. Everything must outlive this.
  StillAllowed(const Exchange& exchange, Parts& parts, const http::RequestHead& head,
               std::optional<std::string_view> target = {})
      : exchange_(exchange), parts_(parts), head_(head), target_(target) {}

  // Of an upload in parts, which puts a file that has another name than the path.
  struct ToPut {
    std::string_view name;
  };
  StillAllowed(const Exchange& exchange, Parts& parts, const http::RequestHead& head, ToPut put)
      : exchange_(exchange), parts_(parts), head_(head), put_(put) {}

  // Whether the request may take effect now. May block. Once it may not, it never may.
  bool holds();

  // Answers 401, 403, 404, 429 or 503 and returns true if holds() has returned false.
  bool answers_refusal(Exchange& exchange) const;

 private:
  RightsRefusal refusal_by_rights() const;

  const Exchange& exchange_;
  Parts& parts_;
  const http::RequestHead& head_;
  const std::optional<std::string_view> target_;
  const std::optional<ToPut> put_;
  std::optional<LogIn::Answer> denied_;  // the account
  RightsRefusal forbidden_;              // the rights
};

}  // namespace fileserver
