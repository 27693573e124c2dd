#include "authserver/authenticator.h"

#include <sodium.h>
#include <time.h>

#include <array>

#include "authserver/account_marks.h"
#include "base/clock.h"
#include "telemetry/counters.h"

namespace authserver {

namespace {

using base::Error;
using base::ErrorCode;

std::string random_password() {
  std::array<unsigned char, 16> bytes;
  ::randombytes_buf(bytes.data(), bytes.size());
  std::array<char, 2 * bytes.size() + 1> text;
  ::sodium_bin2hex(text.data(), text.size(), bytes.data(), bytes.size());
  return text.data();
}

// Exact to some microseconds, because it spins at the end.
void pause_until(std::int64_t time_ns) {
  constexpr std::int64_t kSpinNs = 200'000;  // more than a system takes to wake a thread
  const std::int64_t wake_ns = time_ns - kSpinNs;
  const timespec wake{wake_ns / base::kNsPerS, wake_ns % base::kNsPerS};
  if (wake_ns > base::now_ns()) ::clock_nanosleep(CLOCK_MONOTONIC, TIMER_ABSTIME, &wake, nullptr);
  while (base::now_ns() < time_ns) {
  }
}

Error too_many_hashes() {
  return {ErrorCode::kUnavailable, "too many password hashes are waiting to be computed"};
}

}  // namespace

base::Result<Authenticator> Authenticator::make(const AuthenticatorOptions& options,
                                                SharedPasswordState& shared) {
  // Always argon2id, even if new accounts are stored in plain text. Otherwise the time of a reply
  // would tell unknown users from users with an argon2id record.
  const std::int64_t began_ns = base::now_ns();
  auto nobodys_record = make_record(Scheme::kArgon2id, random_password());
  if (!nobodys_record) return nobodys_record.error();
  shared.times.note(base::now_ns() - began_ns);
  return Authenticator(options, shared, std::move(*nobodys_record));
}

base::Status Authenticator::verify(AccountStore& store, wire::Credentials account) const {
  auto record = store.find_record(account.user);
  return verify(account, record, [] {});
}

base::Status Authenticator::verify(wire::Credentials account, base::Result<std::string>& record,
                                   const BeforeHash& before_hash) const {
  if (record) {
    const auto verdict = check_marked(account, *record, before_hash);
    wipe(*record);
    return verdict;
  }
  if (record.error().code != ErrorCode::kNotFound) return record.error();
  const auto verdict = check(account, nobodys_record_, before_hash);
  return verdict ? base::Status(Error{ErrorCode::kDenied, "unknown user"}) : verdict;
}

// The right password of a disabled account costs what a wrong one does, and so is not remembered.
base::Status Authenticator::check_marked(wire::Credentials account, std::string_view record,
                                         const BeforeHash& before_hash) const {
  const auto [marks, password] = parse_account_record(record);
  if (!marks.is_disabled) return check(account, password, before_hash);
  const bool is_plain = scheme_of(password) == Scheme::kPlain;
  const auto verdict = check(account, is_plain ? password : nobodys_record_, before_hash);
  return verdict ? base::Status(Error{ErrorCode::kDenied, "the account is disabled"}) : verdict;
}

base::Status Authenticator::check(wire::Credentials account, std::string_view record,
                                  const BeforeHash& before_hash) const {
  const auto denied_unless = [](bool is_right) {
    return is_right ? base::Status(base::kDone)
                    : base::Status(Error{ErrorCode::kDenied, "wrong password"});
  };
  if (scheme_of(record) == Scheme::kPlain) return denied_unless(matches(record, account.password));

  if (!is_affordable(record))
    return Error{ErrorCode::kInternal, "the password record of user " + std::string(account.user) +
                                           " costs more to check than ours"};
  const CredentialKey key = hasher_->key_of(account, record);
  const bool may_remember = options_.memo_ms > 0;
  if (may_remember) {
    const bool is_hit = shared_->memo.contains(key, base::now_ns());
    telemetry::add(is_hit ? telemetry::Count::kMemoHits : telemetry::Count::kMemoMisses);
    if (is_hit) return base::kDone;
  }
  before_hash();
  const HashLanes::Turn turn(shared_->lanes, key.low, hash_deadline_ns());
  if (!turn.is_granted()) return too_many_hashes();
  // A request with the same credential may have been verified while this one waited.
  if (may_remember && shared_->memo.contains(key, base::now_ns())) return base::kDone;
  const bool is_right = matches_in_usual_time(record, account.password);
  if (is_right && may_remember)
    shared_->memo.remember(key, base::now_ns() + options_.memo_ms * base::kNsPerMs);
  return denied_unless(is_right);
}

// A wrong password for a cheap record would be denied sooner than an unknown user. The turn is kept
// until then, so that the requests behind this one do not tell the difference either.
bool Authenticator::matches_in_usual_time(std::string_view record,
                                          std::string_view password) const {
  const std::int64_t began_ns = base::now_ns();
  const HashMemory::Use memory(*memory_);
  const bool is_right = matches(record, password);
  if (costs_as_ours(record)) {
    shared_->times.note(base::now_ns() - began_ns);
  } else if (!is_right) {
    pause_until(began_ns + shared_->times.any_ns());
  }
  return is_right;
}

base::Status Authenticator::create(AccountStore& store, wire::Credentials account) const {
  auto record = record_of(account.password);
  if (!record) return record.error();
  const auto created = store.create({account.user, *record});
  wipe(*record);
  return created;
}

// The record that is replaced is the one that the old password was checked against. So nobody who
// disables the account meanwhile is overruled.
base::Status Authenticator::change_password(AccountStore& store, wire::Credentials account,
                                            std::string_view old) const {
  auto changed = change_record(
      store, account.user, [&](const AccountRecord& before) -> base::Result<std::string> {
        base::Result<std::string> record = text_of(before);
        if (const auto verdict = verify({account.user, old}, record, [] {}); !verdict)
          return verdict.error();
        auto password = record_of(account.password);
        if (!password) return password.error();
        std::string after = text_of(AccountRecord{before.marks, *password});
        wipe(*password);
        return after;
      });
  if (changed || changed.error().code != ErrorCode::kNotFound) return changed;
  base::Result<std::string> nobodys = changed.error();
  return verify({account.user, old}, nobodys, [] {});
}

base::Result<std::string> Authenticator::record_of(std::string_view password) const {
  if (options_.scheme == Scheme::kPlain) return make_record(options_.scheme, password);
  const HashLanes::Turn turn(shared_->lanes, {}, hash_deadline_ns());
  const HashMemory::Use memory(*memory_);
  if (!turn.is_granted()) return too_many_hashes();
  return make_record(options_.scheme, password);
}

std::int64_t Authenticator::hash_deadline_ns() const {
  return base::now_ns() + options_.hash_wait_ms * base::kNsPerMs;
}

}  // namespace authserver
