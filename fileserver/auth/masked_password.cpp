#include "fileserver/auth/masked_password.h"

#include <sodium.h>
#include <string.h>

#include <array>
#include <atomic>
#include <cstdint>
#include <cstring>

namespace fileserver {

namespace {

constexpr std::size_t kNumberBytes = crypto_stream_chacha20_NONCEBYTES;

using MaskKey = std::array<unsigned char, crypto_stream_chacha20_KEYBYTES>;

const MaskKey& mask_key() {
  static const MaskKey key = [] {
    MaskKey drawn{};
    ::randombytes_buf(drawn.data(), drawn.size());
    return drawn;
  }();
  return key;
}

unsigned char* bytes_of(std::string& text, std::size_t offset) {
  return reinterpret_cast<unsigned char*>(text.data()) + offset;
}

const unsigned char* bytes_of(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

}  // namespace

// Each mask has a number of its own, and a key is never used with a number twice. To draw one at
// random would be a system call for each log-in.
std::string masked(std::string_view password) {
  static std::atomic<std::uint64_t> last_number = 0;
  const std::uint64_t number = last_number.fetch_add(1, std::memory_order_relaxed);
  static_assert(sizeof number == kNumberBytes);
  std::string mask(kNumberBytes + password.size(), '\0');
  std::memcpy(mask.data(), &number, kNumberBytes);
  ::crypto_stream_chacha20_xor(bytes_of(mask, kNumberBytes), bytes_of(password), password.size(),
                               bytes_of(mask, 0), mask_key().data());
  return mask;
}

UnmaskedPassword::UnmaskedPassword(std::string_view masked)
    : text_(masked.size() - kNumberBytes, '\0') {
  ::crypto_stream_chacha20_xor(bytes_of(text_, 0), bytes_of(masked) + kNumberBytes, text_.size(),
                               bytes_of(masked), mask_key().data());
}

UnmaskedPassword::~UnmaskedPassword() { ::explicit_bzero(text_.data(), text_.size()); }

}  // namespace fileserver
