// How many requests were under way, as somebody saw it who only looked now and then.
#pragma once

#include <cstdint>
#include <optional>
#include <string>

#include "loadgen/figures/tally.h"

namespace loadgen {

// The requests that were under way when the main thread looked. It looks at moments that are drawn,
// so that no load which repeats itself can hide from it. Nothing is counted in it that X and R come
// from. So it is a second source: N = X*R is an identity, but this equals X*R only if every request
// was counted once.
struct UnderWay {
  std::uint64_t samples = 0;
  std::uint64_t sum = 0;
  std::uint64_t sum_of_squares = 0;

  void add(std::uint64_t requests) {
    ++samples;
    sum += requests;
    sum_of_squares += requests * requests;
  }
};

// The longest time in which no request ended, as far as the main thread has seen it. It looks now
// and then, so the time is a lower bound: up to two looks are missing.
//
// One thread.
class Silence {
 public:
  // Looks at `now_ns`, a time of base::now_ns(), when `ended` requests had ended.
  void look(std::int64_t now_ns, std::uint64_t ended);

  // Nothing: nobody has looked.
  std::optional<std::int64_t> longest_ns() const;

 private:
  std::uint64_t ended_ = 0;
  std::int64_t since_ns_ = 0;  // of the first look that saw so many; 0: there was none
  std::int64_t longest_ns_ = 0;
};

struct UnderWaySummary {
  std::uint64_t samples = 0;
  double mean = 0;
  double variance = 0;  // of the samples
  double expected = 0;  // X*R, with the failed requests; in an open loop R is the service time
};

// Of a closed loop or an open one. Nothing: nobody looked, or requests of an open loop failed, of
// which only is known how long they were due.
std::optional<UnderWaySummary> summarize(const UnderWay& seen, const Tally& tally);

// What is wrong with a closed loop of so many threads, or nothing. A few samples are not judged.
std::optional<std::string> fault_of(const UnderWaySummary& under_way, int threads);

std::string text_of(const UnderWaySummary& under_way);

}  // namespace loadgen
