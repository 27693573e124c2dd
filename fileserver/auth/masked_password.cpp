#include "fileserver/auth/masked_password.h"

#include <sodium.h>
#include <string.h>

#include <array>

namespace fileserver {

namespace {

using MaskKey = std::array<unsigned char, crypto_stream_KEYBYTES>;

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

std::string masked(std::string_view password) {
  std::string mask(crypto_stream_NONCEBYTES + password.size(), '\0');
  ::randombytes_buf(mask.data(), crypto_stream_NONCEBYTES);
  ::crypto_stream_xor(bytes_of(mask, crypto_stream_NONCEBYTES), bytes_of(password), password.size(),
                      bytes_of(mask, 0), mask_key().data());
  return mask;
}

UnmaskedPassword::UnmaskedPassword(std::string_view masked)
    : text_(masked.size() - crypto_stream_NONCEBYTES, '\0') {
  ::crypto_stream_xor(bytes_of(text_, 0), bytes_of(masked) + crypto_stream_NONCEBYTES, text_.size(),
                      bytes_of(masked), mask_key().data());
}

UnmaskedPassword::~UnmaskedPassword() { ::explicit_bzero(text_.data(), text_.size()); }

}  // namespace fileserver
