#include "loadgen/burst/rounds.h"

#include <utility>

namespace loadgen::burst {

// The figures get their memory here, because none can be had between the rounds without a delay.
Rounds::Rounds(int threads, int rounds, std::function<bool()> must_stop)
    : must_stop_(std::move(must_stop)),
      begin_(threads, Begin{this}),
      release_(threads),
      rounds_left_(rounds),
      transfers_(static_cast<std::size_t>(threads)) {
  ended_.reserve(static_cast<std::size_t>(rounds));
}

bool Rounds::begin_next() {
  begin_.arrive_and_wait();
  return goes_on_;
}

// One thread runs this while all others wait.
void Rounds::end_round() noexcept {
  if (goes_on_) ended_.push_back(sums_of(transfers_));
  goes_on_ = rounds_left_ > 0 && !must_stop_();
  --rounds_left_;
}

}  // namespace loadgen::burst
