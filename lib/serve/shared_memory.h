// Memory that a process shares with the children that it forks later.
//
// A child that inherits a Shared or a SharedArray works on the same objects. Each process unmaps
// its own view of them; their destructors are not called. A type kept here must work across
// processes: lock-free atomics and process-shared mutexes are fine, pointers are not.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <span>
#include <utility>

namespace serve {

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

// One T in shared memory.
template <typename T>
class Shared {
 public:
  Shared() : Shared(std::in_place) {}

  // Gives `arguments` to the constructor of T.
  template <typename... Arguments>
  explicit Shared(std::in_place_t, Arguments&&... arguments)
      : memory_(sizeof(T)),
        value_(new (memory_.address()) T(std::forward<Arguments>(arguments)...)) {}

  T& operator*() const { return *value_; }
  T* operator->() const { return value_; }

 private:
  const SharedMemory memory_;
  T* const value_;
};

// `size` Ts in shared memory, each made by its default constructor.
template <typename T>
class SharedArray {
 public:
  explicit SharedArray(std::size_t size)
      : memory_(size * sizeof(T)), values_(static_cast<T*>(memory_.address()), size) {
    for (T& value : values_) new (&value) T();
  }

  T& operator[](std::size_t index) const { return values_[index]; }

 private:
  const SharedMemory memory_;
  const std::span<T> values_;
};

}  // namespace serve
