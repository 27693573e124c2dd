#include "fileserver/files/demand.h"

#include <algorithm>
#include <utility>

namespace fileserver {

bool FirstOf::is_before(const Demand& one, const Demand& other) const {
  return order_ == Order::kMost ? one.density() > other.density() : one.density() < other.density();
}

std::int64_t FirstOf::counted(const Demand& one) const {
  return order_ == Order::kMost ? 1 : one.bytes;
}

void FirstOf::add(std::string_view name, std::int64_t bytes, std::uint32_t times) {
  const auto before = [this](const Demand& one, const Demand& other) {
    return is_before(one, other);
  };
  Demand added{.name = {}, .bytes = bytes, .times = times};
  if (sum_ >= limit_ && (kept_.empty() || !is_before(added, kept_.front()))) return;
  added.name = name;
  sum_ += counted(added);
  kept_.push_back(std::move(added));
  std::ranges::push_heap(kept_, before);
  while (sum_ - counted(kept_.front()) >= limit_) {
    sum_ -= counted(kept_.front());
    std::ranges::pop_heap(kept_, before);
    kept_.pop_back();
  }
}

std::vector<Demand> FirstOf::take() {
  std::ranges::sort(
      kept_, [this](const Demand& one, const Demand& other) { return is_before(one, other); });
  sum_ = 0;
  return std::exchange(kept_, {});
}

void WantedFiles::add(std::string_view name, std::int64_t bytes) {
  const base::Lock lock(mutex_);
  auto found = files_.find(name);
  if (found == files_.end()) {
    if (files_.size() >= kMostNames) return;
    found = files_.emplace(std::string(name), Asked{}).first;
  }
  found->second.bytes = bytes;
  ++found->second.times;
}

std::vector<Demand> WantedFiles::most(std::int64_t count) const {
  constexpr std::uint32_t kFewestTimes = 4;
  FirstOf found(FirstOf::Order::kMost, count);
  const base::Lock lock(mutex_);
  for (const auto& [name, asked] : files_) {
    if (asked.times >= kFewestTimes) found.add(name, asked.bytes, asked.times);
  }
  return found.take();
}

void WantedFiles::remove(const std::string& name) {
  const base::Lock lock(mutex_);
  files_.erase(name);
}

void WantedFiles::forget_old(int halvings) {
  const base::Lock lock(mutex_);
  if (halvings > 0) {
    for (auto& file : files_) file.second.times >>= halvings;
    std::erase_if(files_, [](const auto& file) { return file.second.times == 0; });
  }
  for (std::uint64_t few = 1; files_.size() >= kMostNames; few *= 2)
    std::erase_if(files_, [few](const auto& file) { return file.second.times <= few; });
}

std::uint64_t WantedFiles::times() const {
  std::uint64_t times = 0;
  const base::Lock lock(mutex_);
  for (const auto& file : files_) times += file.second.times;
  return times;
}

bool is_worth(std::uint32_t times, std::uint64_t other) {
  return 2 * std::uint64_t{times} > 3 * other;
}

std::vector<Replacement> replacements(const std::vector<Demand>& outside,
                                      const std::vector<Demand>& inside, std::int64_t free_bytes,
                                      std::int64_t most_bytes) {
  std::vector<Replacement> found;
  std::int64_t taken_bytes = 0;
  std::vector<bool> is_out(inside.size());
  for (const Demand& wanted : outside) {
    if (!found.empty() && taken_bytes + wanted.bytes > most_bytes) continue;
    std::int64_t room_bytes = free_bytes;
    std::uint64_t times = 0;
    std::vector<std::size_t> out;
    for (std::size_t i = 0; i < inside.size() && room_bytes < wanted.bytes; ++i) {
      if (is_out[i] || !is_worth(wanted.times, times + inside[i].times)) continue;
      room_bytes += inside[i].bytes;
      times += inside[i].times;
      out.push_back(i);
    }
    if (room_bytes < wanted.bytes) continue;
    Replacement replacement{.out = {}, .in = wanted};
    for (const std::size_t i : out) {
      is_out[i] = true;
      replacement.out.push_back(inside[i].name);
    }
    free_bytes = room_bytes - wanted.bytes;
    taken_bytes += wanted.bytes;
    found.push_back(std::move(replacement));
  }
  return found;
}

}  // namespace fileserver
