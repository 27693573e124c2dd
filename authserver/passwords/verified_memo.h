// Remembers which credentials were verified against which record, so that argon2id is computed once
// and not for every request.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <string_view>

#include "wire/request.h"

namespace authserver {

// A keyed hash of user, password and the stored record: says nothing about them to who does not
// have the key, which is made at start and never leaves the process.
struct CredentialKey {
  bool operator==(const CredentialKey&) const = default;

  std::uint64_t high = 0;
  std::uint64_t low = 0;
};

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

// Bounded: a table of fixed size in which a new entry overwrites whatever stands in its place. Only
// successes are kept. Never stale, since the record is part of the key: a changed password has
// another record, and another key.
//
// Any thread or process (lies in shared memory): lock-free. Words of two entries may be seen mixed
// while one is being written; that only matches when both halves of the key are those that were
// asked for, and then they were verified.
class VerifiedMemo {
 public:
  bool contains(const CredentialKey& key, std::int64_t now_ns) const;
  void remember(const CredentialKey& key, std::int64_t until_ns);

 private:
  struct Entry {
    std::atomic<std::uint64_t> high = 0;
    std::atomic<std::uint64_t> low = 0;
    std::atomic<std::int64_t> until_ns = 0;
  };
  static constexpr std::size_t kEntries = 64 * 1024;

  std::array<Entry, kEntries> entries_;
};

}  // namespace authserver
