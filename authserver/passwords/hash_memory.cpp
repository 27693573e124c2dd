#include "authserver/passwords/hash_memory.h"

#include <sodium.h>
#include <sys/mman.h>

namespace authserver {

namespace {

thread_local HashMemory::Use* current_use = nullptr;  // of this thread

}  // namespace

HashMemory::~HashMemory() {
  const base::Lock lock(mutex_);
  for (void* const region : free_) ::munmap(region, kRegionBytes);
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
  void* const region = ::mmap(nullptr, kRegionBytes, PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_POPULATE, -1, 0);
  return region == MAP_FAILED ? nullptr : region;
}

void HashMemory::put_back(void* region) {
  {
    const base::Lock lock(mutex_);
    if (free_.size() < most_regions_) {
      free_.push_back(region);
      return;
    }
  }
  ::munmap(region, kRegionBytes);
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
  if (region_ == nullptr) {
    current_use = nullptr;  // the new region itself comes from the system
    region_ = memory_.take();
    current_use = this;
  }
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
