// What a person asks of the accounts, with `as:` or `by:`: docs/protocol.md, "For a person".
#pragma once

#include <span>
#include <string>

#include "authserver/authenticator.h"
#include "authserver/links.h"
#include "authserver/stores/account_store.h"
#include "authserver/tokens.h"
#include "base/result.h"
#include "wire/request.h"

namespace authserver {

// How long the link to set a password can be used.
inline constexpr std::int64_t kInvitationS = 3 * std::int64_t{86'400};

// A token with which the user sets another password, once, within kInvitationS. An earlier one of
// the user ends. Until then the old password counts. kNotFound if there is no such user.
base::Result<std::string> invite(AccountStore& store, SharedTokenState& tokens,
                                 std::string_view user);

// So many users are listed at once.
inline constexpr std::size_t kListedAtOnce = 500;

// One thread, that of the store.
class Administration {
 public:
  // All must outlive it.
  Administration(AccountStore& store, const Authenticator& authenticator, SharedTokenState& tokens)
      : store_(store), authenticator_(authenticator), tokens_(tokens) {}

  // Carries it out if who asks may do it, and returns the content of the reply, which may be empty.
  // Each change is a line of the log. kDenied if who asks is unknown, or may not do it; the errors
  // of what was asked for.
  base::Result<std::string> answer(const wire::As& request);

 private:
  struct Speaker;
  using Wish = wire::Wish;
  using Answer = base::Result<std::string>;

  Answer answer_guest(const wire::As& request, Visit visit);
  base::Result<Speaker> who_asks(const wire::As& request);
  base::Result<Speaker> speaker_of(std::string_view token);
  base::Result<Speaker> speaker_of(wire::Credentials account);
  Answer carry_out(const Speaker& speaker, const Wish& wish);

  Answer list(std::string_view behind);
  Answer add(std::string_view user);
  base::Status remove(std::string_view user);
  Answer tokens_of(std::string_view user, std::span<const TokenKind> kinds);
  Answer make_app(std::string_view user, std::string_view name);
  Answer make_link(std::string_view user, std::string_view operand);
  base::Status set_password(const Speaker& invited, std::string_view password);

  AccountStore& store_;
  const Authenticator& authenticator_;
  SharedTokenState& tokens_;
};

}  // namespace authserver
