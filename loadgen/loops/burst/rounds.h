// The rounds of a burst: how its threads keep together.
#pragma once

#include <barrier>
#include <cstdint>
#include <functional>
#include <vector>

#include "loadgen/clients/client.h"
#include "loadgen/figures/burst.h"

namespace loadgen::burst {

// What is done to a server that is held while it is asked. If the functions are empty, it is not.
struct Holding {
  std::function<void()> begin;
  std::function<void()> end;

  explicit operator bool() const { return begin && end; }
};

// A round has two meetings of all threads. The round begins at the first one, and then each thread
// does all that can be done before it asks for its file. At the second one, the release, all ask.
// If the server is held, it is from the release on, until a third meeting, when all have asked.
// A thread that fails before takes part in all meetings nevertheless, so nobody waits for it.
//
// Threads: each function is for those of the load, and each of them calls all in the order
// begin_next(), wait(), leave(), finish(), until begin_next() says that there is no further round.
class Rounds final : public Gate {
 public:
  // Requires: threads > 0. `must_stop` is asked between the rounds, by any of the threads; each of
  // `holding` is called by one of them while all others wait.
  Rounds(int threads, int rounds, std::function<bool()> must_stop, Holding holding = {});

  // Waits until all threads have finished the round before. Returns whether there is a further one;
  // the answer is the same for all.
  bool begin_next();

  // Whether half of all rounds have ended. Requires: a round has begun.
  bool is_in_second_half() const { return 2 * ended_.size() >= rounds_; }

  // The release: waits until all threads are as far.
  void wait() override { release_.arrive_and_wait(); }

  // Waits until all threads have asked, if the server is held. The transfers begin when it is let
  // go.
  std::int64_t leave(std::int64_t asked_ns) override;

  // For a thread that has nothing to ask for.
  void pass() {
    wait();
    leave(0);
  }

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
  struct BeginHolding {
    Rounds* rounds;
    void operator()() noexcept {
      if (rounds->holding_) rounds->holding_.begin();
    }
  };
  struct EndHolding {
    Rounds* rounds;
    void operator()() noexcept { rounds->let_go(); }
  };
  void end_round() noexcept;
  void let_go() noexcept;

  const std::function<bool()> must_stop_;
  const Holding holding_;
  const std::size_t rounds_;
  std::barrier<Begin> begin_;
  std::barrier<BeginHolding> release_;
  std::barrier<EndHolding> asked_;

  // Written while all threads are at a meeting, but each transfer by its thread.
  std::int64_t let_go_ns_ = 0;
  std::size_t rounds_left_;
  bool goes_on_ = false;
  std::vector<Transfer> transfers_;
  std::vector<Sums> ended_;
};

}  // namespace loadgen::burst
