// Memory that a process shares with the children it forks later.
#pragma once

#include <sys/mman.h>

#include <cstddef>
#include <new>
#include <utility>

namespace serve {

// Owns one T in anonymous shared memory. A child that inherits it works on the same T; each process
// unmaps its own view. T must work across processes: lock-free atomics, process-shared mutexes, no
// pointers.
template <typename T>
class Shared {
 public:
  Shared() : Shared(sizeof(T)) {}

  // Gives `arguments` to the constructor of T.
  template <typename... Arguments>
  explicit Shared(std::in_place_t, Arguments&&... arguments)
      : bytes_(sizeof(T)), value_(new (map(sizeof(T))) T(std::forward<Arguments>(arguments)...)) {}

  // With `bytes` of room, at least sizeof(T), for a T that has an array behind it.
  explicit Shared(std::size_t bytes) : bytes_(bytes), value_(new (map(bytes)) T()) {}
  ~Shared() { ::munmap(value_, bytes_); }
  Shared(const Shared&) = delete;
  Shared& operator=(const Shared&) = delete;

  T& operator*() const { return *value_; }
  T* operator->() const { return value_; }

 private:
  static void* map(std::size_t bytes) {
    void* const memory =
        ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1, 0);
    if (memory == MAP_FAILED) throw std::bad_alloc();
    return memory;
  }

  std::size_t bytes_;
  T* value_;
};

}  // namespace serve
