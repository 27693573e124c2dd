#include "events/helpers.h"

#include <algorithm>
#include <exception>
#include <iterator>
#include <utility>

#include "base/log.h"

namespace events {

namespace {

constexpr std::size_t kMostLong = Helpers::kMost / 2;

}  // namespace

void Helpers::Queue::push(Job& job) {
  (last_ == nullptr ? first_ : last_->behind_) = &job;
  last_ = &job;
}

Helpers::Job* Helpers::Queue::pop() {
  Job* const job = first_;
  if (job == nullptr) return nullptr;
  first_ = job->behind_;
  if (first_ == nullptr) last_ = nullptr;
  return job;
}

Helpers::~Helpers() {
  Threads threads;
  std::thread ended;
  {
    const base::Lock lock(mutex_);
    is_over_ = true;
    threads.swap(threads_);
    ended.swap(last_ended_);
    one_came_.wake_all();
  }
  for (Helper& one : threads) one.thread.join();
  if (ended.joinable()) ended.join();
}

Helpers::Submitted Helpers::submit(Job& job, Length length) {
  const base::Lock lock(mutex_);
  const bool is_free = idle_ > queued_ || start_thread();
  if (!is_free && threads_.empty()) return Submitted::kRefused;
  const bool begins =
      is_free && (length == Length::kShort || (long_.is_empty() && may_begin_long()));
  push(job, length);
  return begins ? Submitted::kBegins : Submitted::kWaits;
}

// Many may call this at about the same time.
void Helpers::look_for_hung() {
  const std::int64_t now_ns = base::now_ns();
  constexpr std::int64_t kPatienceNs = kPatienceMs * base::kNsPerMs;
  const base::Lock lock(mutex_);
  if (now_ns < look_again_ns_) return;
  look_again_ns_ = now_ns + kPatienceNs / 4;
  for (Helper& one : threads_) {
    if (one.hangs || one.begun_ns == 0 || now_ns - one.begun_ns < kPatienceNs) continue;
    one.hangs = true;
    ++hung_;
    if (one.length == Length::kLong) ++hung_long_;
  }
  for (std::size_t wanted = queued_; wanted > idle_ && start_thread(); --wanted) {
  }
  one_came_.wake_all();  // more long jobs may begin
}

bool Helpers::submit_if_free(Job& job) {
  const base::Lock lock(mutex_);
  const std::size_t wanted = threads_.size() - idle_ - hung_ + queued_;
  if (wanted >= kMost / 2 || (idle_ <= queued_ && !start_thread())) return false;
  push(job, Length::kShort);
  return true;
}

bool Helpers::leave(Job& job) {
  const base::Lock lock(mutex_);
  if (left_ == kMostLeft) return false;
  if (idle_ <= queued_ && !start_thread() && threads_.empty()) return false;
  job.is_left_ = true;
  ++left_;
  push(job, Length::kShort);
  return true;
}

bool Helpers::are_done_by(base::Deadline deadline) {
  const base::Lock lock(mutex_);
  while (!are_done() && !deadline.has_passed()) all_done_.wait_ms(mutex_, deadline.left_ms());
  return are_done();
}

void Helpers::push(Job& job, Length length) {
  (length == Length::kLong ? long_ : short_).push(job);
  ++queued_;
  one_came_.wake_one();
}

// Returns false if there are enough, or if there can be no more.
bool Helpers::start_thread() {
  if (threads_.size() >= kMost + std::min(hung_, most_hung_)) return false;
  try {
    threads_.emplace_back();
    const auto one = std::prev(threads_.end());
    one->thread = std::thread([this, one] { help(one); });
    is_refused_ = false;
    return true;
  } catch (const std::exception& failure) {
    if (!threads_.empty() && !threads_.back().thread.joinable()) threads_.pop_back();
    if (!std::exchange(is_refused_, true))
      base::log::warn("cannot start a helper reason=\"{}\"", failure.what());
    return false;
  }
}

bool Helpers::may_begin_long() const { return long_at_work_ - hung_long_ < kMostLong; }

// Null if there is nothing that may be begun.
Helpers::Job* Helpers::take(Length& length) {
  length = Length::kShort;
  Job* job = short_.pop();
  if (job == nullptr && may_begin_long()) {
    length = Length::kLong;
    job = long_.pop();
  }
  if (job == nullptr) return nullptr;
  --queued_;
  if (length == Length::kLong) ++long_at_work_;
  return job;
}

void Helpers::note_done(Helper& helper) {
  if (helper.begun_ns == 0) return;
  helper.begun_ns = 0;
  const bool was_long = helper.length == Length::kLong;
  if (was_long) --long_at_work_;
  if (std::exchange(helper.is_left, false)) --left_;
  if (!std::exchange(helper.hangs, false)) return;
  --hung_;
  if (was_long) --hung_long_;
}

// Null: the helper is to end, because there are enough without it, or because all is over.
Helpers::Job* Helpers::next(Threads::iterator self, std::thread& ended_before) {
  constexpr int kLookAgainMs = 60'000;
  const base::Lock lock(mutex_);
  note_done(*self);
  if (!is_over_ && threads_.size() > kMost + hung_) {
    ended_before = std::exchange(last_ended_, std::move(self->thread));
    threads_.erase(self);
    if (are_done()) all_done_.wake_all();
    if (queued_ > 0) one_came_.wake_one();
    return nullptr;
  }
  ++idle_;
  if (are_done()) all_done_.wake_all();
  Job* job = nullptr;
  Length length{};
  while ((job = take(length)) == nullptr && !is_over_) one_came_.wait_ms(mutex_, kLookAgainMs);
  --idle_;
  if (job == nullptr) return nullptr;
  self->begun_ns = base::now_ns();
  self->length = length;
  self->is_left = job->is_left_;
  return job;
}

void Helpers::help(Threads::iterator self) {
  std::thread ended_before;
  while (Job* const job = next(self, ended_before)) {
    job->work();
    job->is_done();
  }
  if (ended_before.joinable()) ended_before.join();
}

}  // namespace events
