#include "authserver/passwords/scheme.h"

#include <sodium.h>

#include <array>

namespace authserver {

namespace {

constexpr std::string_view kPlainPrefix = "$plain$";
constexpr unsigned long long kPasses = 2;
constexpr std::size_t kMemoryBytes = 19 * 1024 * 1024;

// Compares digests, so the work is the same even if the lengths differ.
bool equals_in_constant_time(std::string_view a, std::string_view b) {
  std::array<unsigned char, crypto_generichash_BYTES> digest_a;
  std::array<unsigned char, crypto_generichash_BYTES> digest_b;
  const auto digest = [](std::string_view text, auto& into) {
    ::crypto_generichash(into.data(), into.size(),
                         reinterpret_cast<const unsigned char*>(text.data()), text.size(), nullptr,
                         0);
  };
  digest(a, digest_a);
  digest(b, digest_b);
  return ::sodium_memcmp(digest_a.data(), digest_b.data(), digest_a.size()) == 0;
}

}  // namespace

bool start_cryptography() { return ::sodium_init() >= 0; }

base::Result<std::string> make_record(Scheme scheme, std::string_view password) {
  if (scheme == Scheme::kPlain) return std::string(kPlainPrefix).append(password);
  std::array<char, crypto_pwhash_STRBYTES> record;
  const int outcome = ::crypto_pwhash_str_alg(record.data(), password.data(), password.size(),
                                              kPasses, kMemoryBytes, crypto_pwhash_ALG_ARGON2ID13);
  wipe_used_stack();
  if (outcome != 0) {
    return base::Error{base::ErrorCode::kInternal, "argon2id: out of memory"};
  }
  return std::string(record.data());
}

Scheme scheme_of(std::string_view record) {
  return record.starts_with(kPlainPrefix) ? Scheme::kPlain : Scheme::kArgon2id;
}

bool matches(std::string_view record, std::string_view password) {
  if (scheme_of(record) == Scheme::kPlain) {
    const bool is_right = equals_in_constant_time(record.substr(kPlainPrefix.size()), password);
    wipe_used_stack();
    return is_right;
  }
  const std::string terminated(record);
  const bool is_right =
      ::crypto_pwhash_str_verify(terminated.c_str(), password.data(), password.size()) == 0;
  wipe_used_stack();
  return is_right;
}

void wipe_used_stack() {
  constexpr std::size_t kDeepestBytes = 4096;
  ::sodium_stackzero(kDeepestBytes);
}

void wipe(std::string& secret) { ::sodium_memzero(secret.data(), secret.size()); }

}  // namespace authserver
