#include "authserver/passwords/scheme.h"

#include <sodium.h>

#include <array>
#include <charconv>
#include <cstdint>
#include <optional>

namespace authserver {

namespace {

constexpr std::string_view kPlainPrefix = "$plain$";
constexpr unsigned long long kPasses = 2;
constexpr std::size_t kMemoryBytes = 19 * 1024 * 1024;

// Removes `name` and the number behind it from `text`. Nothing if they are not there.
std::optional<std::uint32_t> take_number(std::string_view& text, std::string_view name) {
  if (!text.starts_with(name)) return {};
  text.remove_prefix(name.size());
  std::uint32_t number = 0;
  const auto [end, failure] = std::from_chars(text.data(), text.data() + text.size(), number);
  if (failure != std::errc()) return {};
  text.remove_prefix(static_cast<std::size_t>(end - text.data()));
  return number;
}

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

bool is_affordable(std::string_view record) {
  if (!record.starts_with("$argon2"))
    return true;  // plain, or garbage that nothing is computed for
  const auto kib = take_number(record, "$argon2id$v=19$m=");
  const auto passes = take_number(record, ",t=");
  constexpr std::uint64_t kMostKib = kMemoryBytes / 1024;
  return kib && passes && *kib <= kMostKib && std::uint64_t{*kib} * *passes <= kMostKib * kPasses;
}

bool costs_as_ours(std::string_view record) {
  static const std::string parameters = "$argon2id$v=19$m=" + std::to_string(kMemoryBytes / 1024) +
                                        ",t=" + std::to_string(kPasses) + ",p=1$";
  return record.starts_with(parameters);
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
