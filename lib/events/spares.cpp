#include "events/spares.h"

#include <algorithm>
#include <utility>

#include "base/clock.h"

namespace events {

namespace {

constexpr std::size_t kFirst = 8;  // made at the start; each listener keeps one

}  // namespace

Spares::Spares(Loop& loop) : loop_(loop) {
  while (flows_.size() < kFirst) give(make());
}

std::unique_ptr<Flow> Spares::take() {
  if (flows_.empty()) return nullptr;
  std::unique_ptr<Flow> flow = std::move(flows_.back());
  flows_.pop_back();
  least_ = std::min(least_, flows_.size());
  return flow;
}

void Spares::give(std::unique_ptr<Flow> flow) {
  flows_.push_back(std::move(flow));
  if (flows_.size() > kMostKept && !is_linked()) look_again();
}

std::unique_ptr<Flow> Spares::make() {
  if (flows_.capacity() <= made_) flows_.reserve(std::max(2 * made_, kMostKept));
  auto flow = std::make_unique<Flow>(loop_);
  ++made_;
  return flow;
}

void Spares::clear() {
  loop_.clear_timer(*this);
  flows_.clear();
}

void Spares::is_due() {
  if (flows_.size() <= kMostKept) return;
  const std::size_t unneeded = std::min(least_, flows_.size() - kMostKept);
  const std::size_t gone = std::min(unneeded, kMostGone);
  flows_.erase(flows_.begin(), flows_.begin() + static_cast<std::ptrdiff_t>(gone));  // the coldest
  made_ -= gone;
  if (flows_.size() > kMostKept) look_again();
}

void Spares::look_again() {
  least_ = flows_.size();
  loop_.set_timer(*this, base::now_ns() + kPeriodMs * base::kNsPerMs);
}

}  // namespace events
