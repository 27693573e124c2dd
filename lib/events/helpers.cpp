#include "events/helpers.h"

#include <exception>
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
  std::list<std::thread> threads;
  {
    const base::Lock lock(mutex_);
    is_over_ = true;
    threads.swap(threads_);
    one_came_.wake_all();
  }
  for (std::thread& one : threads) one.join();
}

bool Helpers::submit(Job& job, Length length) {
  const base::Lock lock(mutex_);
  const bool is_helped = idle_ > queued_ || start_thread() || !threads_.empty();
  if (is_helped) push(job, length);
  return is_helped;
}

bool Helpers::submit_if_free(Job& job) {
  const base::Lock lock(mutex_);
  const std::size_t wanted = threads_.size() - idle_ + queued_;
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
  if (threads_.size() == kMost) return false;
  try {
    threads_.emplace_back([this] { help(); });
    is_refused_ = false;
    return true;
  } catch (const std::exception& failure) {
    if (!std::exchange(is_refused_, true))
      base::log::warn("cannot start a helper reason=\"{}\"", failure.what());
    return false;
  }
}

// Null if there is nothing that may be begun.
Helpers::Job* Helpers::take(Length& length) {
  length = Length::kShort;
  Job* job = short_.pop();
  if (job == nullptr && long_at_work_ < kMostLong) {
    length = Length::kLong;
    job = long_.pop();
  }
  if (job == nullptr) return nullptr;
  --queued_;
  if (length == Length::kLong) ++long_at_work_;
  return job;
}

void Helpers::help() {
  constexpr int kLookAgainMs = 60'000;
  for (;;) {
    Job* job = nullptr;
    Length length{};
    {
      const base::Lock lock(mutex_);
      ++idle_;
      if (are_done()) all_done_.wake_all();
      while ((job = take(length)) == nullptr && !is_over_) one_came_.wait_ms(mutex_, kLookAgainMs);
      --idle_;
    }
    if (job == nullptr) return;
    const bool was_left = job->is_left_;
    job->work();
    job->is_done();
    if (length == Length::kShort && !was_left) continue;
    const base::Lock lock(mutex_);
    if (was_left) --left_;
    if (length == Length::kLong) --long_at_work_;
  }
}

}  // namespace events
