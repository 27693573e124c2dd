// The rounds of a burst: how its threads keep together.
#pragma once

#include <barrier>
#include <functional>
#include <vector>

#include "loadgen/burst/figures.h"
#include "loadgen/client.h"

namespace loadgen::burst {

// A round has two meetings of all threads. The round begins at the first one, and then each thread
// does all that can be done before it asks for its file. At the second one, the release, all ask.
// A thread that fails before takes part in the release nevertheless, so nobody waits for it.
//
// Threads: each function is for those of the load, and each of them calls all in the order
// begin_next(), wait(), finish(), until begin_next() says that there is no further round.
class Rounds final : public Gate {
 public:
  // Requires: threads > 0. `must_stop` is asked between the rounds, by any of the threads.
  Rounds(int threads, int rounds, std::function<bool()> must_stop);

  // Waits until all threads have finished the round before. Returns whether there is a further one;
  // the answer is the same for all.
  bool begin_next();

  // The release: waits until all threads are as far.
  void wait() override { release_.arrive_and_wait(); }

  // Says what thread `thread`, counted from 0, has done in this round.
  void finish(int thread, const Transfer& transfer) {
    transfers_[static_cast<std::size_t>(thread)] = transfer;
  }

  // Of each round that has ended. Requires: the threads were joined.
  const std::vector<Sums>& ended() const { return ended_; }

 private:
  struct Begin {
    Rounds* rounds;
    void operator()() noexcept { rounds->end_round(); }
  };
  void end_round() noexcept;

  const std::function<bool()> must_stop_;
  std::barrier<Begin> begin_;
  std::barrier<> release_;

  // Written while all threads are at the first meeting, but each transfer by its thread.
  int rounds_left_;
  bool goes_on_ = false;
  std::vector<Transfer> transfers_;
  std::vector<Sums> ended_;
};

}  // namespace loadgen::burst
