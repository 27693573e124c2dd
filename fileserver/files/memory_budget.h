// The memory that all prefetched files together may take (--memory-limit).
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <utility>

namespace fileserver {

class MemoryBudget;

// A part of a budget, given back by the destructor. The budget must outlive it.
class MemoryShare {
 public:
  MemoryShare() = default;
  MemoryShare(MemoryBudget& budget, std::int64_t bytes) : budget_(&budget), bytes_(bytes) {}
  MemoryShare(MemoryShare&& other) noexcept
      : budget_(std::exchange(other.budget_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}
  MemoryShare& operator=(MemoryShare&& other) noexcept {
    std::swap(budget_, other.budget_);
    std::swap(bytes_, other.bytes_);
    return *this;
  }
  ~MemoryShare();

  std::int64_t bytes() const { return bytes_; }

 private:
  MemoryBudget* budget_ = nullptr;
  std::int64_t bytes_ = 0;
};

// Any thread.
class MemoryBudget {
 public:
  explicit MemoryBudget(std::int64_t limit_bytes) : limit_bytes_(limit_bytes) {}

  // Nothing when the limit would be exceeded. A share that is refused here is never counted, so it
  // keeps no other thread from a share that fits.
  std::optional<MemoryShare> take(std::int64_t bytes) {
    std::int64_t used = used_bytes_.load();
    do {
      if (used + bytes > limit_bytes_) return {};
    } while (!used_bytes_.compare_exchange_weak(used, used + bytes));
    return MemoryShare(*this, bytes);
  }

  // Whether take() would succeed now.
  bool has_room_for(std::int64_t bytes) const { return used_bytes() + bytes <= limit_bytes_; }

  std::int64_t limit_bytes() const { return limit_bytes_; }

  // The sum of all shares that are held now.
  std::int64_t used_bytes() const { return used_bytes_.load(); }

 private:
  friend class MemoryShare;
  const std::int64_t limit_bytes_;
  std::atomic<std::int64_t> used_bytes_ = 0;
};

inline MemoryShare::~MemoryShare() {
  if (budget_ != nullptr) budget_->used_bytes_ -= bytes_;
}

}  // namespace fileserver
