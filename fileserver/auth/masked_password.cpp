#include "fileserver/auth/masked_password.h"

#include <sodium.h>
#include <string.h>

#include <algorithm>
#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>
#include <span>

namespace fileserver {

namespace {

using Number = std::uint64_t;
using MaskKey = std::array<unsigned char, crypto_shorthash_KEYBYTES>;

const MaskKey& mask_key() {
  static const MaskKey key = [] {
    MaskKey drawn{};
    ::randombytes_buf(drawn.data(), drawn.size());
    return drawn;
  }();
  return key;
}

// Adds to the bytes what the key makes of the number and of where they are; to do it twice undoes
// it. ChaCha20 makes 64 bytes at once, and costs four times as much for a usual password.
void mask(std::span<char> bytes, Number number) {
  std::array<unsigned char, crypto_shorthash_BYTES> added{};
  for (std::size_t at = 0; at < bytes.size(); at += added.size()) {
    const std::array<std::uint64_t, 2> place{number, at};
    ::crypto_shorthash(added.data(), reinterpret_cast<const unsigned char*>(place.data()),
                       sizeof place, mask_key().data());
    const std::size_t size = std::min(added.size(), bytes.size() - at);
    for (std::size_t i = 0; i < size; ++i)
      bytes[at + i] = static_cast<char>(bytes[at + i] ^ added[i]);
  }
  ::sodium_memzero(added.data(), added.size());
}

}  // namespace

// Each mask has a number of its own, and a key is never used with a number twice. To draw one at
// random would be a system call for each log-in.
std::string masked(std::string_view password) {
  static std::atomic<Number> last_number = 0;
  const Number number = last_number.fetch_add(1, std::memory_order_relaxed);
  std::string masked(sizeof number, '\0');
  std::memcpy(masked.data(), &number, sizeof number);
  masked += password;
  mask(std::span(masked).subspan(sizeof number), number);
  return masked;
}

UnmaskedPassword::UnmaskedPassword(std::string_view masked) : text_(masked.substr(sizeof(Number))) {
  Number number = 0;
  std::memcpy(&number, masked.data(), sizeof number);
  mask(text_, number);
}

UnmaskedPassword::~UnmaskedPassword() { ::explicit_bzero(text_.data(), text_.size()); }

}  // namespace fileserver
