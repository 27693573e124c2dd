// Holds a server while a burst asks it, and lets it go on when all have asked.
#pragma once

#include <string>

#include "base/result.h"
#include "loadgen/loops/burst/thaw_guard.h"
#include "net/fd.h"

namespace loadgen::burst {

// A control group of the kernel, of version 1 or 2, with the processes of a server. None of them
// runs between freeze() and thaw(). When it is destroyed, they go on, and also when this process
// ends without that.
//
// Threads: one at a time; of_group() and the destructor only in the main thread.
class Hold {
 public:
  // `group` is the folder of the group; with version 1, its folder for the controller `freezer`.
  // Fails if it cannot be frozen, and if this process is in it, which then could not thaw it.
  static base::Result<Hold> of_group(const std::string& group);

  Hold(Hold&&) noexcept = default;
  Hold& operator=(Hold&&) = delete;
  Hold(const Hold&) = delete;
  Hold& operator=(const Hold&) = delete;
  ~Hold();

  // Returns when no process of the group runs. Fails, with the group thawed, if the kernel needs
  // too long.
  base::Status freeze();

  // Does nothing to a group that is not frozen.
  base::Status thaw();

 private:
  // The words that the kernel knows, and where it says how far it is.
  struct Words {
    const char* order;   // the file that takes an order
    const char* freeze;  // the orders
    const char* thaw;
    const char* state;  // the file that has `frozen` in one of its lines when all are held
    const char* frozen;
  };

  Hold(std::string group, const Words& words, net::Fd order, ThawGuard guard)
      : group_(std::move(group)),
        words_(words),
        order_(std::move(order)),
        guard_(std::move(guard)) {}

  base::Status give(const char* order);
  bool is_frozen() const;

  std::string group_;
  Words words_;
  net::Fd order_;    // open all the time, so that thawing needs nothing that may be short
  ThawGuard guard_;  // started before the group is frozen for the first time
};

}  // namespace loadgen::burst
