#include "loadgen/loops/burst/rounds.h"

#include <utility>

#include "base/clock.h"

namespace loadgen::burst {

// The figures get their memory here, because none can be had between the rounds without a delay.
Rounds::Rounds(int threads, int rounds, std::function<bool()> must_stop, Holding holding)
    : must_stop_(std::move(must_stop)),
      holding_(std::move(holding)),
      rounds_(static_cast<std::size_t>(rounds)),
      begin_(threads, Begin{this}),
      release_(threads, BeginHolding{this}),
      asked_(threads, EndHolding{this}),
      rounds_left_(rounds_),
      transfers_(static_cast<std::size_t>(threads)) {
  ended_.reserve(rounds_);
}

bool Rounds::begin_next() {
  begin_.arrive_and_wait();
  return goes_on_;
}

std::int64_t Rounds::leave(std::int64_t asked_ns) {
  if (!holding_) return asked_ns;
  asked_.arrive_and_wait();
  return asked_ns == 0 ? 0 : let_go_ns_;
}

// One thread runs this while all others wait. The moment is that before, because the first bytes
// may be here when the server has been let go.
void Rounds::let_go() noexcept {
  let_go_ns_ = base::now_ns();
  holding_.end();
}

// One thread runs this while all others wait. Before the first round there is none that has ended.
void Rounds::end_round() noexcept {
  if (goes_on_) ended_.push_back(sums_of(transfers_));
  goes_on_ = rounds_left_ > 0 && !must_stop_();
  if (goes_on_) --rounds_left_;
}

}  // namespace loadgen::burst
