// What a run draws at random, from the number of --seed.
#pragma once

#include <cstdint>

namespace loadgen {

// What is drawn for a request. Each has numbers of its own, so that a run which draws one thing
// more draws the others as before.
enum class Drawn : std::uint64_t { kAccount, kFile, kKind, kPause };

// Random numbers that are the same with every compiler and on every machine. They depend on nothing
// but the arguments of the constructor, so no thread's numbers depend on what the others do.
//
// One thread.
class Draw {
 public:
  // `request` counts the requests of `stream`: those of a thread, or those of a schedule that all
  // threads share.
  Draw(int seed, int stream, std::int64_t request, Drawn what);

  std::uint64_t bits();
  double uniform();  // in [0, 1)

  // Each number from 1 to `count` is as likely as the others. Requires: count > 0.
  std::int64_t from_one_to(std::int64_t count);

 private:
  std::uint64_t state_;
};

}  // namespace loadgen
