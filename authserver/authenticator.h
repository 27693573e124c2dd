// Decides who is let in, and makes accounts.
#pragma once

#include <cstdint>
#include <memory>
#include <string>

#include "authserver/passwords/hash_lanes.h"
#include "authserver/passwords/scheme.h"
#include "authserver/passwords/verified_memo.h"
#include "authserver/stores/account_store.h"
#include "base/result.h"
#include "wire/request.h"

namespace authserver {

// What all threads or processes of one authserver share.
struct SharedPasswordState {
  explicit SharedPasswordState(std::size_t hashes_at_once) : lanes(hashes_at_once) {}

  HashLanes lanes;
  VerifiedMemo memo;
};

// What the authserver passes as hash_wait_ms. No flag changes it; only tests pass less.
inline constexpr std::int64_t kHashWaitMs = 2'000;

struct AuthenticatorOptions {
  Scheme scheme;              // of new accounts
  std::int64_t memo_ms;       // how long a verified credential is remembered; 0: not at all
  std::int64_t hash_wait_ms;  // how long a request waits for its turn to compute a hash
};

// Any thread; immutable but for the shared state. Works on a store that the caller lends for each
// call.
class Authenticator {
 public:
  // `shared` must outlive it. Makes the record that unknown users are checked against; kInternal
  // without memory for it.
  static base::Result<Authenticator> make(const AuthenticatorOptions& options,
                                          SharedPasswordState& shared);

  // Done when the password is the user's. kDenied for a wrong one and for an unknown user, after
  // the same time unless the account is in plain text; kUnavailable when the store, or a turn to
  // compute, cannot be had.
  base::Status verify(AccountStore& store, wire::Credentials account) const;

  // Done when the account is durable. kExists, kUnavailable.
  base::Status create(AccountStore& store, wire::Credentials account) const;

 private:
  Authenticator(const AuthenticatorOptions& options, SharedPasswordState& shared,
                std::string nobodys_record)
      : options_(options), shared_(&shared), nobodys_record_(std::move(nobodys_record)) {}

  base::Status check(wire::Credentials account, std::string_view record) const;
  std::int64_t hash_deadline_ns() const;

  AuthenticatorOptions options_;
  SharedPasswordState* shared_;
  std::shared_ptr<const CredentialHasher> hasher_ =
      std::make_shared<CredentialHasher>();  // copies use the same key
  std::string nobodys_record_;               // of argon2id, and of a password that nobody knows
};

}  // namespace authserver
