// Keeps the memory in which argon2id works, so that it need not be mapped for each hash.
#pragma once

#include <cstddef>
#include <vector>

#include "base/mutex.h"

namespace authserver {

// libsodium maps 19 MiB for each hash and unmaps them, which is half of the CPU of a hash. Where
// the authserver is linked with libsodium.a, its calls of mmap and munmap come here
// (-Wl,--wrap in the Makefile). Elsewhere libsodium asks the system, and this class does nothing.
//
// Any thread. A region is used by one hash at a time, and is wiped after it.
class HashMemory {
 public:
  static constexpr std::size_t kRegionBytes = 20 * 1024 * 1024;  // in whole huge pages

  // Keeps at most so many regions; with 0 none.
  explicit HashMemory(std::size_t most_regions) : most_regions_(most_regions) {}
  ~HashMemory();
  HashMemory(const HashMemory&) = delete;
  HashMemory& operator=(const HashMemory&) = delete;

  // While it lives, the hashes that this thread computes use a region of `memory`. At most one in a
  // thread.
  class Use {
   public:
    explicit Use(HashMemory& memory);
    ~Use();
    Use(const Use&) = delete;
    Use& operator=(const Use&) = delete;

    // What libsodium calls instead of the system. Null or false: not for us.
    void* map(std::size_t bytes);
    bool unmap(void* address, std::size_t bytes);

   private:
    HashMemory& memory_;
    void* region_ = nullptr;  // taken from memory_; null before the first hash
    bool is_mapped_ = false;  // libsodium uses the region now
  };

  // How many regions are kept and not used now.
  std::size_t kept() const EXCLUDES(mutex_);

 private:
  void* take() EXCLUDES(mutex_);
  void put_back(void* region) EXCLUDES(mutex_);

  const std::size_t most_regions_;
  mutable base::Mutex mutex_;
  std::vector<void*> free_ GUARDED_BY(mutex_);  // all wiped
};

}  // namespace authserver
