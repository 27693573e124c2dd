// Objects that a process shares with the children that it forks later.
//
// A child that inherits one of these works on the same objects. Each process unmaps its own view of
// them; their destructors are not called. A type kept here must work across
// processes: lock-free atomics and process-shared mutexes are fine, pointers are not.
#pragma once

#include <cstddef>
#include <new>
#include <span>
#include <type_traits>
#include <utility>

#include "base/shared_memory.h"

namespace serve {

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
  const base::SharedMemory memory_;
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
  std::span<T> all() const { return values_; }

 private:
  const base::SharedMemory memory_;
  const std::span<T> values_;
};

// `size` Ts in shared memory that begin as zeroed bytes. No constructor runs, so what nobody
// touches takes no memory. Zeroed bytes must be a valid T.
template <typename T>
class SharedZeros {
 public:
  explicit SharedZeros(std::size_t size)
      : memory_(size * sizeof(T)), values_(static_cast<T*>(memory_.address())), size_(size) {
    static_assert(std::is_trivially_destructible_v<T>);
  }

  T& operator[](std::size_t index) const { return values_[index]; }
  std::size_t size() const { return size_; }

 private:
  const base::SharedMemory memory_;
  T* const values_;
  const std::size_t size_;
};

}  // namespace serve
