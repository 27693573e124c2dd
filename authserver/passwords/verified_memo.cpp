#include "authserver/passwords/verified_memo.h"

#include <sodium.h>

#include <algorithm>
#include <cstring>

#include "authserver/passwords/scheme.h"

namespace authserver {

namespace {

void add(crypto_generichash_state& state, std::string_view bytes) {
  // With the length in front, two different triples never give the same bytes.
  const std::uint64_t size = bytes.size();
  ::crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(&size), sizeof size);
  ::crypto_generichash_update(&state, reinterpret_cast<const unsigned char*>(bytes.data()),
                              bytes.size());
}

}  // namespace

CredentialHasher::CredentialHasher() { ::randombytes_buf(key_.data(), key_.size()); }

CredentialHasher::~CredentialHasher() { ::sodium_memzero(key_.data(), key_.size()); }

CredentialKey CredentialHasher::key_of(wire::Credentials account, std::string_view record) const {
  crypto_generichash_state state;
  ::crypto_generichash_init(&state, key_.data(), key_.size(), sizeof(CredentialKey));
  add(state, account.user);
  add(state, account.password);
  add(state, record);
  std::array<unsigned char, sizeof(CredentialKey)> digest;
  ::crypto_generichash_final(&state, digest.data(), digest.size());
  ::sodium_memzero(&state, sizeof state);
  wipe_used_stack();
  CredentialKey key;
  std::memcpy(&key.high, digest.data(), sizeof key.high);
  std::memcpy(&key.low, digest.data() + sizeof key.high, sizeof key.low);
  return key;
}

bool VerifiedMemo::contains(const CredentialKey& key, std::int64_t now_ns) const {
  return std::ranges::any_of(sets_[key.high % kSets], [&](const Entry& entry) {
    return entry.holds(key) && entry.until_ns.load(std::memory_order_acquire) > now_ns;
  });
}

void VerifiedMemo::remember(const CredentialKey& key, std::int64_t until_ns) {
  Set& set = sets_[key.high % kSets];
  auto place = std::ranges::find_if(set, [&](const Entry& entry) { return entry.holds(key); });
  if (place == set.end()) {
    place = std::ranges::min_element(
        set, {}, [](const Entry& entry) { return entry.until_ns.load(std::memory_order_acquire); });
  }
  Entry& entry = *place;
  entry.high.store(key.high, std::memory_order_release);
  entry.low.store(key.low, std::memory_order_release);
  entry.until_ns.store(until_ns, std::memory_order_release);
}

}  // namespace authserver
