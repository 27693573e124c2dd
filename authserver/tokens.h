// Tokens, each of which speaks for a user for some time: docs/protocol.md, "Sessions". How they lie
// in the store is in token_record.h.
//
// A user has as many tokens of a kind as places of it. A new session beyond them takes the place of
// the oldest, and a new invitation that of the one before. A new application password or a new link
// is refused.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include "authserver/stores/account_store.h"
#include "authserver/token_record.h"
#include "base/process_mutex.h"
#include "base/result.h"
#include "wire/request.h"

namespace authserver {

// What all threads or processes of one authserver share. Lies in shared memory.
struct SharedTokenState {
  // Taken with HeldName.
  std::array<base::ProcessMutex, 64> locks_of_users;
  std::array<base::ProcessMutex, 64> locks_of_links;

  // The store takes no changes now. Until then no use of a token is noted, so that no reader waits.
  std::atomic<std::int64_t> notes_no_use_until_s = 0;
};

// Holds one of these locks, while the store is asked. Whoever takes a place of a user holds the
// name of the user, so that two at a time do not take the same.
class HeldName {
 public:
  static constexpr int kPatienceMs = 5'000;

  template <typename Locks>
  HeldName(Locks& locks, std::string_view name)
      : mutex_(locks.at(shard_of(name) % locks.size())),
        is_held_(mutex_.lock_within_ms(kPatienceMs) != base::ProcessMutex::Locked::kNo) {}
  ~HeldName() {
    if (is_held_) mutex_.unlock();
  }
  HeldName(const HeldName&) = delete;
  HeldName& operator=(const HeldName&) = delete;

  // False: others have held it for too long.
  bool is_held() const { return is_held_; }

 private:
  base::ProcessMutex& mutex_;
  const bool is_held_;
};

// What a new token is to be.
struct NewToken {
  TokenKind kind;
  std::int64_t seconds;  // how long it lasts; of no meaning for kApp, and 0 for a link without end
  std::string_view name = {};            // of a kApp
  const wire::LinkWish* link = nullptr;  // of a kLink
};

// Makes a token, and returns it once it is durable. `account_record` is the one that the user's
// password was checked against. kExists if the user has application passwords, or links, at all
// places.
base::Result<std::string> open_token(AccountStore& store, SharedTokenState& shared,
                                     std::string_view user, std::string_view account_record,
                                     const NewToken& wanted);

// Whether the token of this row is good. `account_record` is that of its user. Notes the hour of
// its use. A token that has ended is removed, but not a link: that would take time, by which
// whoever asks could tell it from one that never was. kDenied if it is not good, or the account is
// disabled.
base::Status check_token(AccountStore& store, SharedTokenState& shared, const std::string& row,
                         const TokenRecord& token, const base::Result<std::string>& account_record);

// Ends the token, and frees its place. Succeeds too if there is none.
base::Status close_token(AccountStore& store, SharedTokenState& shared, const std::string& row);

// Removes the tokens of a user that have ended with his account or his password, all of them or all
// but the application passwords, and frees their places. Each is tied to the record that the
// account had. So a store that fails meanwhile is only a line of the log. Of a user without one it
// only reads.
enum class Ended : std::uint8_t { kAll, kAllButApps };
void clear_tokens_of(AccountStore& store, std::string_view user, Ended which);

bool is_app_of(const TokenRecord& token, std::string_view user);

// Whether the password is an application password of the user. kDenied if it is none.
base::Status check_app(AccountStore& store, SharedTokenState& shared, wire::Credentials account);

// A token that is good, as its user and administrators see it.
struct TokenEntry {
  std::string id;
  TokenRecord token;
  std::string path = {};  // of a link
};

// The tokens of a user of these kinds. Each kind is in the order of its places.
base::Result<std::vector<TokenEntry>> list_tokens(AccountStore& store, std::string_view user,
                                                  std::string_view account_record,
                                                  std::span<const TokenKind> kinds);

// Ends the token of the user that has this ID. kNotFound if no token of these kinds has it.
base::Status end_token(AccountStore& store, SharedTokenState& shared, std::string_view user,
                       std::string_view id, std::span<const TokenKind> kinds);

}  // namespace authserver
