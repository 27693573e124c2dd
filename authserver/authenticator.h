// Verifies passwords and creates accounts.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <string>

#include "authserver/passwords/hash_lanes.h"
#include "authserver/passwords/hash_memory.h"
#include "authserver/passwords/hash_times.h"
#include "authserver/passwords/scheme.h"
#include "authserver/passwords/verified_memo.h"
#include "authserver/stores/account_store.h"
#include "base/result.h"
#include "wire/request.h"

namespace authserver {

// What all threads or processes of one authserver share. Lies in shared memory.
struct SharedPasswordState {
  explicit SharedPasswordState(std::size_t hashes_at_once) : lanes(hashes_at_once) {}

  HashLanes lanes;
  HashTimes times;
  VerifiedMemo memo;
};

// What the authserver passes as hash_wait_ms. No flag changes it; only tests pass less.
inline constexpr std::int64_t kHashWaitMs = 2'000;

struct AuthenticatorOptions {
  Scheme scheme;                 // of new accounts
  std::int64_t memo_ms;          // how long a verified credential is remembered; 0: not at all
  std::int64_t hash_wait_ms;     // how long a request waits for its turn to compute a hash
  std::size_t kept_regions = 0;  // of memory for hashes, in this process (passwords/hash_memory.h)
};

// Any thread. Immutable apart from the shared state. The caller lends a store for each call, which
// no other thread may use meanwhile.
class Authenticator {
 public:
  // `shared` must outlive the authenticator. Computes one hash, the record that unknown users are
  // checked against. kInternal if there is no memory for that.
  static base::Result<Authenticator> make(const AuthenticatorOptions& options,
                                          SharedPasswordState& shared);

  // Succeeds if the password is the user's. kDenied for a wrong password, for an unknown user and
  // for a disabled account; all take the same time, unless the account is stored in plain text.
  // kUnavailable if the store does not answer, or if too many hashes are waiting to be computed.
  base::Status verify(AccountStore& store, wire::Credentials account) const;

  // The same for a record that the store has returned already, and that is overwritten here. Calls
  // `before_hash` before anything that may take long: a hash, or the wait for a turn to compute it.
  using BeforeHash = std::function<void()>;
  base::Status verify(wire::Credentials account, base::Result<std::string>& record,
                      const BeforeHash& before_hash) const;

  // Succeeds once the account is durable. kExists if the name is taken, and kUnavailable for the
  // same reasons as verify().
  base::Status create(AccountStore& store, wire::Credentials account) const;

  // Gives the account this password in place of `old`. Its marks stay. Succeeds once that is
  // durable. Fails as verify() does, so kDenied if `old` is wrong, or not right any more.
  base::Status change_password(AccountStore& store, wire::Credentials account,
                               std::string_view old) const;

  // The record of a password, as new accounts have it. kUnavailable as verify().
  base::Result<std::string> record_of(std::string_view password) const;

 private:
  Authenticator(const AuthenticatorOptions& options, SharedPasswordState& shared,
                std::string nobodys_record)
      : options_(options),
        shared_(&shared),
        memory_(std::make_shared<HashMemory>(options.kept_regions)),
        nobodys_record_(std::move(nobodys_record)) {}

  // Succeeds if the password matches the record. check_marked() also looks at its marks.
  base::Status check_marked(wire::Credentials account, std::string_view record,
                            const BeforeHash& before_hash) const;
  base::Status check(wire::Credentials account, std::string_view record,
                     const BeforeHash& before_hash) const;
  // Computes the hash. Requires: the caller has a turn. Takes about as long for a wrong password
  // whatever the record costs.
  bool matches_in_usual_time(std::string_view record, std::string_view password) const;
  std::int64_t hash_deadline_ns() const;

  AuthenticatorOptions options_;
  SharedPasswordState* shared_;
  std::shared_ptr<HashMemory> memory_;  // shared, as the hasher
  std::shared_ptr<const CredentialHasher> hasher_ =
      std::make_shared<CredentialHasher>();  // shared, so that copies use the same key
  std::string nobodys_record_;               // an argon2id record of a password that nobody knows
};

}  // namespace authserver
