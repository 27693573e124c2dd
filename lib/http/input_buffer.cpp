#include "http/input_buffer.h"

#include <string.h>

#include <algorithm>
#include <utility>

namespace http {

InputBuffer::~InputBuffer() { consume(end_ - begin_); }

std::span<char> InputBuffer::free_space(std::size_t most_bytes) {
  if (begin_ == end_) begin_ = end_ = 0;
  if (end_ == capacity_ && begin_ > 0) move_to(bytes_, capacity_);
  if (end_ == capacity_ && capacity_ < most_bytes) reserve(std::min(2 * capacity_, most_bytes));
  return {bytes_ + end_, capacity_ - end_};
}

void InputBuffer::consume(std::size_t count) {
  ::explicit_bzero(bytes_ + begin_, count);
  begin_ += count;
}

void InputBuffer::reserve(std::size_t bytes) {
  if (bytes <= capacity_) return;
  auto larger = std::make_unique_for_overwrite<char[]>(bytes);
  move_to(larger.get(), bytes);
  heap_ = std::move(larger);
}

void InputBuffer::shrink() {
  if (heap_ == nullptr || begin_ != end_) return;
  move_to(in_place_.data(), kInPlaceBytes);
  heap_.reset();
}

// Moves the pending bytes to the start of `target`, and overwrites them where they were.
void InputBuffer::move_to(char* target, std::size_t capacity) {
  const std::size_t size = end_ - begin_;
  ::memmove(target, bytes_ + begin_, size);
  const bool is_same_place = target == bytes_;
  const std::size_t kept = is_same_place ? std::max(size, begin_) : begin_;
  if (end_ > kept) ::explicit_bzero(bytes_ + kept, end_ - kept);
  bytes_ = target;
  capacity_ = capacity;
  begin_ = 0;
  end_ = size;
}

}  // namespace http
