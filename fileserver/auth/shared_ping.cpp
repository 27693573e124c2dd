#include "fileserver/auth/shared_ping.h"

#include <utility>

namespace fileserver {

namespace {

base::Error no_answer() {
  return {base::ErrorCode::kUnavailable, "the authserver has not answered those who asked before"};
}

}  // namespace

SharedPing::Turn::Turn(SharedPing& shared, base::Deadline deadline)
    : shared_(shared), answer_(no_answer()) {
  const base::Lock lock(shared_.mutex_);
  round_ = shared_.begun_ + 1;
  while (shared_.ended_ < round_ && shared_.begun_ > shared_.ended_ && !deadline.has_passed())
    shared_.one_ended_.wait_ms(shared_.mutex_, deadline.left_ms());
  is_mine_ = shared_.ended_ < round_ && shared_.begun_ == shared_.ended_;
  if (is_mine_) ++shared_.begun_;
  if (!is_mine_ && shared_.ended_ >= round_) answer_ = shared_.answer_;
}

// Whoever came behind its begin asks next. Whoever waits for this answer has none if ask() has
// thrown.
SharedPing::Turn::~Turn() {
  if (!is_mine_) return;
  const base::Lock lock(shared_.mutex_);
  shared_.answer_ = std::move(answer_);  // which takes no memory
  shared_.ended_ = shared_.begun_;
  shared_.one_ended_.wake_all();
}

}  // namespace fileserver
