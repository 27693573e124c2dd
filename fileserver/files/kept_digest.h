// Where the digest of one version of a file is kept once it was computed.
#pragma once

#include <atomic>
#include <memory>
#include <optional>
#include <utility>

#include "base/sha256.h"

namespace fileserver {

// Empty until set() is called, and small until then, because nobody asks for most digests. Any
// thread; but it is moved by one, before others see it.
class KeptDigest {
 public:
  KeptDigest() = default;
  KeptDigest(KeptDigest&& other) noexcept { *this = std::move(other); }
  KeptDigest& operator=(KeptDigest&& other) noexcept {
    digest_ = std::move(other.digest_);
    is_set_.store(other.is_set_.load());
    return *this;
  }

  std::optional<base::Sha256Digest> get() const {
    if (!is_set_.load(std::memory_order_acquire)) return {};
    return *digest_;
  }

  // Requires: it is empty, and no other thread sets it now.
  void set(const base::Sha256Digest& digest) {
    digest_ = std::make_unique<const base::Sha256Digest>(digest);
    is_set_.store(true, std::memory_order_release);
  }

 private:
  std::unique_ptr<const base::Sha256Digest> digest_;
  std::atomic<bool> is_set_ = false;  // release: behind the digest
};

}  // namespace fileserver
