#include "base/sha256.h"

#include <openssl/crypto.h>
#include <openssl/evp.h>

#include <new>

namespace base {

namespace {

// The configuration of OpenSSL is not read: the sandbox may forbid it, and SHA-256 needs none.
const EVP_MD* algorithm() {
  static const EVP_MD* const kSha256 = [] {
    ::OPENSSL_init_crypto(OPENSSL_INIT_NO_LOAD_CONFIG, nullptr);
    return ::EVP_sha256();
  }();
  return kSha256;
}

void require(bool is_done) {
  if (!is_done) throw std::bad_alloc();
}

}  // namespace

void Sha256::Free::operator()(EVP_MD_CTX* context) const { ::EVP_MD_CTX_free(context); }

Sha256::Sha256() : context_(::EVP_MD_CTX_new()) {
  require(context_ != nullptr && ::EVP_DigestInit_ex(context_.get(), algorithm(), nullptr) == 1);
}

void Sha256::add(std::span<const char> bytes) {
  require(::EVP_DigestUpdate(context_.get(), bytes.data(), bytes.size()) == 1);
}

Sha256Digest Sha256::finish() {
  Sha256Digest digest{};
  require(::EVP_DigestFinal_ex(context_.get(), digest.data(), nullptr) == 1);
  return digest;
}

}  // namespace base
