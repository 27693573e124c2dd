// One question to the authserver for all who ask whether it answers.
#pragma once

#include <cstdint>
#include <utility>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"

namespace fileserver {

// One asks at a time. All who came before it began have its answer, so a crowd costs no more than
// one connection, and nobody waits for more than two answers.
//
// Any thread and any context.
class SharedPing {
 public:
  // Calls ask(), which returns a base::Status, or waits for the answer of another one that begins
  // from now on. kUnavailable: none has come before the deadline.
  template <typename Ask>
  base::Status ask(base::Deadline deadline, Ask ask) {
    Turn turn(*this, deadline);
    if (turn.is_mine()) turn.end(ask());
    return turn.answer();
  }

 private:
  // From its construction to its end the one who asks keeps others from asking.
  class Turn {
   public:
    Turn(SharedPing& shared, base::Deadline deadline);
    ~Turn();
    Turn(const Turn&) = delete;
    Turn& operator=(const Turn&) = delete;

    bool is_mine() const { return is_mine_; }
    void end(base::Status answer) { answer_ = std::move(answer); }
    const base::Status& answer() const { return answer_; }

   private:
    SharedPing& shared_;
    base::Status answer_;
    std::uint64_t round_ = 0;
    bool is_mine_ = false;
  };

  base::Mutex mutex_;
  base::Condition one_ended_;
  std::uint64_t begun_ GUARDED_BY(mutex_) = 0;  // rounds
  std::uint64_t ended_ GUARDED_BY(mutex_) = 0;
  base::Status answer_ GUARDED_BY(mutex_) = base::kDone;  // of the last round that has ended
};

}  // namespace fileserver
