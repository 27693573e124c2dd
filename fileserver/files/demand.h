// Which files have the memory when it has no room for all: those that are asked for most often, for
// what they take.
//
// On made-up traces this has more hits than LRU, S3-FIFO and W-TinyLFU, and reads a file for some
// 200 requests and not for each miss: docs/performance.md, "Files beyond memory".
#pragma once

#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "base/mutex.h"

namespace fileserver {

// A file, what it takes in memory with its bookkeeping, and how often it was asked for lately.
struct Demand {
  std::string name;
  std::int64_t bytes = 0;
  std::uint32_t times = 0;

  // How often for each byte.
  double density() const { return times / static_cast<double>(bytes); }
};

// Files that are told one by one. Keeps only the first in an order. Threads: one.
class FirstOf {
 public:
  // kMost: those with the highest density, and at most so many. kLeast: those with the lowest, as
  // many as take so many bytes.
  enum class Order { kMost, kLeast };
  FirstOf(Order order, std::int64_t limit) : order_(order), limit_(limit) {}

  // Requires: bytes > 0.
  void add(std::string_view name, std::int64_t bytes, std::uint32_t times);

  // In the order. Nothing is kept any more.
  std::vector<Demand> take();

 private:
  bool is_before(const Demand& one, const Demand& other) const;
  std::int64_t counted(const Demand& one) const;

  const Order order_;
  const std::int64_t limit_;
  std::int64_t sum_ = 0;
  std::vector<Demand> kept_;  // a heap; the last in the order is its top
};

// The files that were asked for and have no room in memory. Any thread.
class WantedFiles {
 public:
  // One more time. Of a new file it is forgotten while there are kMostNames others.
  void add(std::string_view name, std::int64_t bytes);

  // Those with the highest density, that one first. Who was asked for less than four times does not
  // count: that is chance.
  std::vector<Demand> most(std::int64_t count) const;

  void remove(const std::string& name);

  // What was asked for long ago counts less, and at last not at all. Halves so often. A full table
  // loses those that were asked for least, so that later names have their turn.
  void forget_old(int halvings);

  std::uint64_t times() const;

  static constexpr std::size_t kMostNames = 16'384;

 private:
  struct Hash : std::hash<std::string_view> {
    using is_transparent = void;
  };
  struct Asked {
    std::int64_t bytes = 0;
    std::uint32_t times = 0;
  };

  mutable base::Mutex mutex_;
  std::unordered_map<std::string, Asked, Hash, std::equal_to<>> files_ GUARDED_BY(mutex_);
};

// Whether a file that was asked for so often is worth the room of what was asked for `other` times:
// half as often again. So files that are alike do not take turns.
bool is_worth(std::uint32_t times, std::uint64_t other);

// Files that leave the memory, so that another one has room.
struct Replacement {
  std::vector<std::string> out;
  Demand in;
};

// What the next replacements are. `outside` begins with the file of the highest density, `inside`
// with that of the lowest; free_bytes are free already. A file comes in if it is_worth all that
// leave for it. Together they take at most most_bytes, unless it is one file.
std::vector<Replacement> replacements(const std::vector<Demand>& outside,
                                      const std::vector<Demand>& inside, std::int64_t free_bytes,
                                      std::int64_t most_bytes);

}  // namespace fileserver
