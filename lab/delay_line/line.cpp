#include "lab/delay_line/line.h"

#include <algorithm>
#include <cmath>
#include <utility>

namespace delay_line {
namespace {

constexpr double kBitsPerByte = 8;
constexpr double kNsPerS = 1e9;

}  // namespace

Line::Line(Shape shape)
    : shape_(std::move(shape)), free_ns_(static_cast<std::size_t>(shape_.lines), 0) {}

bool Line::take(Packet packet, std::int64_t now_ns) {
  let_go(now_ns);
  std::int64_t& free_ns = free_ns_[turn_];
  const std::int64_t begins_ns = std::max(now_ns, free_ns);
  if (begins_ns > now_ns) {
    if (queued_bytes_ + packet.size() > shape_.queue_bytes) return false;
    queue_.push({begins_ns, packet.size()});
    queued_bytes_ += packet.size();
  }
  const double bits = kBitsPerByte * static_cast<double>(packet.size());
  free_ns = begins_ns + std::llround(kNsPerS * bits / rate_at(begins_ns));
  turn_ = (turn_ + 1) % free_ns_.size();
  under_way_.push({free_ns + shape_.delay_ns, taken_++, std::move(packet)});
  return true;
}

std::optional<std::int64_t> Line::next_due_ns() const {
  if (under_way_.empty()) return std::nullopt;
  return under_way_.top().due_ns;
}

std::optional<Line::Out> Line::give(std::int64_t now_ns) {
  if (under_way_.empty() || under_way_.top().due_ns > now_ns) return std::nullopt;
  // top() is const, but the element is removed at once, and its order does not need the packet.
  auto& top = const_cast<Under&>(under_way_.top());
  Out out{std::move(top.packet), top.due_ns};
  under_way_.pop();
  return out;
}

double Line::rate_at(std::int64_t ns) const {
  const auto later = std::upper_bound(
      shape_.rates.begin(), shape_.rates.end(), ns,
      [](std::int64_t moment_ns, const Rate& rate) { return moment_ns < rate.from_ns; });
  return std::prev(later)->bits_per_s;
}

// Of the queue, what a line has begun to send.
void Line::let_go(std::int64_t now_ns) {
  while (!queue_.empty() && queue_.top().until_ns <= now_ns) {
    queued_bytes_ -= queue_.top().bytes;
    queue_.pop();
  }
}

}  // namespace delay_line
