// Remembers which credentials were verified, so that argon2id is not computed for every request.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "wire/request.h"

namespace authserver {

// A keyed hash of user, password and stored record. It reveals nothing about them without the key
// of the CredentialHasher that made it.
struct CredentialKey {
  bool operator==(const CredentialKey&) const = default;

  std::uint64_t high = 0;
  std::uint64_t low = 0;
};

// Owns a random key, made at start, which never leaves the process and its children. Any thread;
// immutable.
class CredentialHasher {
 public:
  CredentialHasher();
  ~CredentialHasher();
  CredentialHasher(const CredentialHasher&) = delete;
  CredentialHasher& operator=(const CredentialHasher&) = delete;

  CredentialKey key_of(wire::Credentials account, std::string_view record) const;

 private:
  std::array<unsigned char, 32> key_;
};

// A table of fixed size, in sets of 8 entries. The key chooses the set. A new entry takes the place
// of the one in its set that ends first; an unused one counts as ended long ago. So 20,000
// credentials that are used alike fit, save one in some thousands. Only successes are remembered.
// An entry is never stale, because the record is part of the key: a changed password has another
// record, and so another key.
//
// Any thread or process; lies in shared memory and takes no lock. A reader may see an entry while
// it is being written, as a mix of the old and the new one. A mix is only accepted if both halves
// of its key are the ones asked for, and then that credential was verified.
class VerifiedMemo {
 public:
  // Whether the credential was remembered and its time is not over.
  bool contains(const CredentialKey& key, std::int64_t now_ns) const;

  // Requires: the credential was verified just now.
  void remember(const CredentialKey& key, std::int64_t until_ns);

 private:
  struct Entry {
    std::atomic<std::uint64_t> high = 0;
    std::atomic<std::uint64_t> low = 0;
    std::atomic<std::int64_t> until_ns = 0;

    bool holds(const CredentialKey& key) const {
      return high.load(std::memory_order_acquire) == key.high &&
             low.load(std::memory_order_acquire) == key.low;
    }
  };
  static constexpr std::size_t kSets = 8 * 1024;
  using Set = std::array<Entry, 8>;

  std::array<Set, kSets> sets_;
};

}  // namespace authserver
