#include "authserver/passwords/hash_memory.h"

#include <sodium.h>
#include <sys/mman.h>

#include <cstdlib>

namespace authserver {

namespace {

// Argon2id jumps about in its memory, so it is faster on few large pages.
constexpr std::size_t kHugePageBytes = 2 * 1024 * 1024;
static_assert(HashMemory::kRegionBytes % kHugePageBytes == 0);

thread_local HashMemory::Use* current_use = nullptr;  // of this thread

}  // namespace

HashMemory::~HashMemory() {
  const base::Lock lock(mutex_);
  for (void* const region : free_) std::free(region);
}

std::size_t HashMemory::kept() const {
  const base::Lock lock(mutex_);
  return free_.size();
}

// Null if there is no memory.
void* HashMemory::take() {
  {
    const base::Lock lock(mutex_);
    if (!free_.empty()) {
      void* const region = free_.back();
      free_.pop_back();
      return region;
    }
  }
  void* const region = std::aligned_alloc(kHugePageBytes, kRegionBytes);
  if (region != nullptr) ::madvise(region, kRegionBytes, MADV_HUGEPAGE);  // it works without, too
  return region;
}

void HashMemory::put_back(void* region) {
  {
    const base::Lock lock(mutex_);
    if (free_.size() < most_regions_) {
      free_.push_back(region);
      return;
    }
  }
  std::free(region);
}

HashMemory::Use::Use(HashMemory& memory) : memory_(memory) {
  if (memory_.most_regions_ > 0) current_use = this;
}

HashMemory::Use::~Use() {
  current_use = nullptr;
  if (region_ != nullptr) memory_.put_back(region_);
}

void* HashMemory::Use::map(std::size_t bytes) {
  if (bytes > kRegionBytes || is_mapped_) return nullptr;
  if (region_ == nullptr) region_ = memory_.take();
  is_mapped_ = region_ != nullptr;
  return region_;
}

bool HashMemory::Use::unmap(void* address, std::size_t bytes) {
  if (!is_mapped_ || address != region_) return false;
  ::sodium_memzero(region_, bytes);
  is_mapped_ = false;
  return true;
}

}  // namespace authserver

#ifdef TURNSTILE_HASH_MEMORY
// NOLINTBEGIN(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp): the linker has these
// names.
extern "C" {

void* __real_mmap(void* address, std::size_t bytes, int protection, int flags, int fd,
                  off_t offset);
int __real_munmap(void* address, std::size_t bytes);

void* __wrap_mmap(void* address, std::size_t bytes, int protection, int flags, int fd,
                  off_t offset) {
  if (authserver::current_use != nullptr && fd == -1) {
    if (void* const region = authserver::current_use->map(bytes)) return region;
  }
  return __real_mmap(address, bytes, protection, flags, fd, offset);
}

int __wrap_munmap(void* address, std::size_t bytes) {
  if (authserver::current_use != nullptr && authserver::current_use->unmap(address, bytes))
    return 0;
  return __real_munmap(address, bytes);
}

}  // extern "C"
// NOLINTEND(bugprone-reserved-identifier,cert-dcl37-c,cert-dcl51-cpp)
#endif
