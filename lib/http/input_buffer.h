// Received bytes that have not been used yet. No sockets, no clock.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <span>
#include <string_view>

namespace http {

// Holds a usual request in place. A larger head, or a body, gets memory of the heap, which is given
// back by shrink(). All bytes may hold passwords, so they are overwritten when they are used, and
// by the destructor. Threads: one.
class InputBuffer {
 public:
  InputBuffer() = default;
  ~InputBuffer();
  InputBuffer(const InputBuffer&) = delete;
  InputBuffer& operator=(const InputBuffer&) = delete;

  std::string_view pending() const { return {bytes_ + begin_, end_ - begin_}; }
  bool is_empty() const { return begin_ == end_; }

  // Where the next received bytes go. If there is no room, the buffer grows, up to `most_bytes`;
  // the pending bytes move then. Empty if so many bytes are pending.
  std::span<char> free_space(std::size_t most_bytes);

  // Says that `count` bytes were written to the start of the last free_space().
  void received(std::size_t count) { end_ += count; }

  // The first `count` of the pending bytes are not needed any more.
  void consume(std::size_t count);

  // Grows to this size at once, for a body that comes. The pending bytes move.
  void reserve(std::size_t bytes);

  // Gives memory of the heap back, if nothing is pending.
  void shrink();

 private:
  static constexpr std::size_t kInPlaceBytes = 1536;

  void move_to(char* target, std::size_t capacity);

  std::array<char, kInPlaceBytes> in_place_;
  std::unique_ptr<char[]> heap_;
  char* bytes_ = in_place_.data();  // or those of heap_
  std::size_t capacity_ = kInPlaceBytes;
  std::size_t begin_ = 0;  // [begin_, end_) is pending
  std::size_t end_ = 0;
};

}  // namespace http
