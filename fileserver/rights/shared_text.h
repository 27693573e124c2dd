// A text that a process gives to the children that it forks, before and after it changes.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>
#include <string>
#include <string_view>

#include "base/process_mutex.h"

namespace fileserver {

// Lies in shared memory (serve/shared_memory.h). Any process or thread.
class SharedText {
 public:
  static constexpr std::size_t kMaxBytes = std::size_t{1} << 20;

  // Requires: at most kMaxBytes.
  void publish(std::string_view text);

  // Goes up with each text. 0: none was published.
  std::uint64_t version() const { return version_.load(std::memory_order_acquire); }

  struct Copy {
    std::string text;
    std::uint64_t version;
  };
  Copy copy();

 private:
  base::ProcessMutex mutex_;
  std::atomic<std::uint64_t> version_ = 0;  // is read without the mutex
  std::size_t size_ = 0;
  std::array<char, kMaxBytes> bytes_{};
};

}  // namespace fileserver
