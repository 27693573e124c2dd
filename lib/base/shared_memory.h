// Memory that a process shares with the children that it forks later.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>

namespace base {

// Owns `bytes` of anonymous shared memory, filled with zeros. Throws std::bad_alloc if there is not
// enough.
class SharedMemory {
 public:
  explicit SharedMemory(std::size_t bytes)
      : address_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0)),
        bytes_(bytes) {
    if (address_ == MAP_FAILED) throw std::bad_alloc();
  }
  ~SharedMemory() { ::munmap(address_, bytes_); }
  SharedMemory(const SharedMemory&) = delete;
  SharedMemory& operator=(const SharedMemory&) = delete;

  void* address() const { return address_; }

 private:
  void* const address_;
  const std::size_t bytes_;
};

}  // namespace base
