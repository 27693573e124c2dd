#include "loadgen/clients/channels/reorder_pool.h"

#include <algorithm>
#include <utility>

namespace loadgen {

ReorderPool::ReorderPool(File file, std::size_t buffer_bytes, std::size_t buffers, LastBuffer last)
    : file_(file), buffer_bytes_(buffer_bytes), buffers_(buffers), last_(last), end_(file.from) {}

std::optional<FilePart> ReorderPool::take() {
  if (!given_back_.empty()) return given_back_.extract(given_back_.begin()).mapped();
  const FilePart next = part(given_out_);
  if (next.bytes == 0) return std::nullopt;
  ++given_out_;
  return next;
}

bool ReorderPool::has_room(const FilePart& part) const {
  if (in_use_.contains(part.number)) return true;
  const std::size_t free = buffers_ - in_use_.size();
  const bool is_reserved = last_ == LastBuffer::kForNextPart && part.number != next_number();
  return free > 1 || (free == 1 && !is_reserved);
}

std::span<std::byte> ReorderPool::room(const FilePart& part) {
  if (!has_room(part)) return {};
  auto found = in_use_.find(part.number);
  if (found == in_use_.end()) {
    found = in_use_.emplace(part.number, Held{}).first;
    if (!spare_.empty()) {
      found->second.bytes = std::move(spare_.back());
      spare_.pop_back();
    }
    found->second.bytes.resize(buffer_bytes_);
    most_in_use_ = std::max(most_in_use_, in_use_.size());
  }
  Held& held = found->second;
  return std::span(held.bytes).subspan(held.come, part.bytes - held.come);
}

void ReorderPool::filled(const FilePart& part, std::size_t bytes) {
  in_use_.at(part.number).come += bytes;
  waiting_bytes_ += bytes;
}

void ReorderPool::leave_room(const FilePart& part) {
  const auto found = in_use_.find(part.number);
  if (found == in_use_.end() || found->second.come > 0) return;
  spare_.push_back(std::move(found->second.bytes));
  in_use_.erase(found);
}

std::size_t ReorderPool::come(const FilePart& part) const {
  const auto found = in_use_.find(part.number);
  return found == in_use_.end() ? 0 : found->second.come;
}

void ReorderPool::give_back(const FilePart& part) { given_back_.emplace(part.number, part); }

std::span<const std::byte> ReorderPool::next() const {
  const auto found = in_use_.find(next_number());
  if (found == in_use_.end()) return {};
  const Held& held = found->second;
  const auto out = static_cast<std::size_t>(end_ - part(found->first).offset);
  return std::span(held.bytes).subspan(out, held.come - out);
}

void ReorderPool::let_out(std::size_t bytes) {
  const std::uint64_t number = next_number();
  end_ += bytes;
  waiting_bytes_ -= bytes;
  if (next_number() == number && !is_over()) return;
  auto whole = in_use_.extract(number);
  spare_.push_back(std::move(whole.mapped().bytes));
}

FilePart ReorderPool::part(std::uint64_t number) const {
  const std::uint64_t offset = std::min(file_.size, file_.from + number * buffer_bytes_);
  const auto bytes =
      static_cast<std::size_t>(std::min<std::uint64_t>(buffer_bytes_, file_.size - offset));
  return {number, offset, bytes};
}

std::uint64_t ReorderPool::next_number() const { return (end_ - file_.from) / buffer_bytes_; }

}  // namespace loadgen
