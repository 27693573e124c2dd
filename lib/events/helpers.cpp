#include "events/helpers.h"

#include <system_error>

#include "base/log.h"

namespace events {

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

bool Helpers::submit(Job& job) {
  const base::Lock lock(mutex_);
  const bool is_helped = idle_ > queued_ || start_thread() || !threads_.empty();
  if (is_helped) push(job);
  return is_helped;
}

bool Helpers::submit_if_free(Job& job) {
  const base::Lock lock(mutex_);
  const std::size_t at_work = threads_.size() - idle_ + queued_;
  if (at_work >= kMost / 2 || (idle_ <= queued_ && !start_thread())) return false;
  push(job);
  return true;
}

void Helpers::push(Job& job) {
  (last_ == nullptr ? first_ : last_->behind_) = &job;
  last_ = &job;
  ++queued_;
  one_came_.wake_one();
}

// Returns false if there are enough, or if there can be no more.
bool Helpers::start_thread() {
  if (threads_.size() == kMost) return false;
  try {
    threads_.emplace_back([this] { help(); });
    return true;
  } catch (const std::system_error& failure) {
    base::log::warn("cannot start a helper reason=\"{}\"", failure.what());
    return false;
  }
}

void Helpers::help() {
  constexpr int kLookAgainMs = 60'000;
  for (;;) {
    Job* job = nullptr;
    {
      const base::Lock lock(mutex_);
      ++idle_;
      while (first_ == nullptr && !is_over_) one_came_.wait_ms(mutex_, kLookAgainMs);
      --idle_;
      if (first_ == nullptr) return;
      job = first_;
      first_ = job->behind_;
      if (first_ == nullptr) last_ = nullptr;
      --queued_;
    }
    job->work();
    job->is_done();
  }
}

}  // namespace events
