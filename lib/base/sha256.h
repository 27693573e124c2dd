// SHA-256, with the instructions that the processor has for it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <span>

struct evp_md_ctx_st;  // of OpenSSL

namespace base {

using Sha256Digest = std::array<std::uint8_t, 32>;

// The digest of the bytes that are added one after another. Threads: one.
class Sha256 {
 public:
  // Throws std::bad_alloc if there is no memory. Nothing else fails.
  Sha256();

  void add(std::span<const char> bytes);

  // Called once, behind the last byte.
  Sha256Digest finish();

 private:
  struct Free {
    void operator()(evp_md_ctx_st* context) const;
  };
  std::unique_ptr<evp_md_ctx_st, Free> context_;
};

}  // namespace base
