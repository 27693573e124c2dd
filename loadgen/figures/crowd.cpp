#include "loadgen/figures/crowd.h"

#include <algorithm>

namespace loadgen::crowd {

void Tally::add(const Tally& other) {
  drop_outs.insert(drop_outs.end(), other.drop_outs.begin(), other.drop_outs.end());
  rate_errors.insert(rate_errors.end(), other.rate_errors.begin(), other.rate_errors.end());
  fetches += other.fetches;
  bytes += other.bytes;
  file_bytes = std::max(file_bytes, other.file_bytes);
  receive_buffer_bytes = std::max(receive_buffer_bytes, other.receive_buffer_bytes);
  wakeups += other.wakeups;
  useful_reads += other.useful_reads;
  empty_reads += other.empty_reads;
  overflows += other.overflows;
  most_late_ms = std::max(most_late_ms, other.most_late_ms);
  waiting.samples += other.waiting.samples;
  waiting.sum += other.waiting.sum;
  waiting.most = std::max(waiting.most, other.waiting.most);
}

Standing LiveCounts::standing() const {
  constexpr auto kRelaxed = std::memory_order_relaxed;
  Standing now{.started = started.load(kRelaxed)};
  now.held = now.started - dropped.load(kRelaxed);
  now.without_fetch = now.held - fetched.load(kRelaxed);
  return now;
}

}  // namespace loadgen::crowd
