// How long the last hashes took.
#pragma once

#include <array>
#include <atomic>
#include <cstddef>
#include <cstdint>

namespace authserver {

// Remembers the times of the last 8 hashes. With them, an answer for which no full hash was
// computed can be given as late as one for which it was.
//
// Any thread or process; lies in shared memory and takes no lock.
class HashTimes {
 public:
  void note(std::int64_t duration_ns);

  // One of the remembered times, chosen at random; 0 before the first note(). So a series of them
  // has the same distribution as the hashes had.
  std::int64_t any_ns() const;

 private:
  static constexpr std::size_t kMost = 8;

  std::atomic<std::uint32_t> count_ = 0;  // of all times noted
  std::array<std::atomic<std::int64_t>, kMost> durations_ns_{};
};

}  // namespace authserver
