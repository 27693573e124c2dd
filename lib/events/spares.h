// The contexts of a loop that have no work.
#pragma once

#include <cstddef>
#include <memory>
#include <vector>

#include "events/flow.h"

namespace events {

// Keeps as many as were needed lately, because a stack costs the kernel more than a request does:
// it is mapped, and when it goes, every core that runs the process is interrupted. What nobody has
// needed for kPeriodMs goes, some at a time, so that no round is long.
//
// One thread, that of the loop.
class Spares final : public Timer {
 public:
  static constexpr std::size_t kMostKept = 64;  // for however long
  static constexpr std::size_t kMostGone = 64;  // at a time
  static constexpr int kPeriodMs = 50;

  // Throws std::bad_alloc.
  explicit Spares(Loop& loop);

  // Null: none is left.
  std::unique_ptr<Flow> take();

  // Takes one that make() has made, when its work is done.
  void give(std::unique_ptr<Flow> flow);

  // Makes one more. Throws std::bad_alloc.
  std::unique_ptr<Flow> make();

  void clear();

 private:
  void is_due() override;
  void look_again();

  Loop& loop_;
  std::vector<std::unique_ptr<Flow>> flows_;  // has room for all that were made
  std::size_t made_ = 0;                      // and are not gone
  std::size_t least_ = 0;                     // that lay here, since the last look
};

}  // namespace events
