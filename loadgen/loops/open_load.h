// What the threads of an open loop have in common, whatever sends its requests: the schedule.
#pragma once

#include <cstdint>
#include <memory>

#include "loadgen/loops/load.h"
#include "loadgen/loops/schedule.h"

namespace loadgen {

// `ThreadLoop` is the loop of one thread. It is built from the schedule, `shared`, and the number
// of the thread.
template <typename ThreadLoop>
class OpenLoad final : public Load {
 public:
  // `shared` must outlive it.
  explicit OpenLoad(const Shared& shared)
      : shared_(shared),
        schedule_(shared.config.rate_rps, shared.config.arrivals,
                  static_cast<std::uint64_t>(shared.config.seed)) {}

  std::unique_ptr<Loop> make_loop(int thread) override {
    return std::make_unique<ThreadLoop>(schedule_, shared_, thread);
  }

 private:
  const Shared& shared_;
  Schedule schedule_;
};

}  // namespace loadgen
