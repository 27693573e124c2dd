// Threads that may block, for those that may not.
#pragma once

#include <cstddef>
#include <list>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/waits.h"

namespace events {

// Threads: any. At most kMost jobs go on at once, of which half may be long; others of the same
// length wait in the order in which they came.
class Helpers {
 public:
  static constexpr std::size_t kMost = 32;
  static constexpr std::size_t kMostLeft = 64;
  using Length = base::Waits::Length;

  class Job {
   public:
    // Called by a helper. Must not throw.
    virtual void work() = 0;

    // Called by the helper afterwards. The job may be gone before this returns.
    virtual void is_done() = 0;

   protected:
    ~Job() = default;

   private:
    friend class Helpers;
    Job* behind_ = nullptr;
    bool is_left_ = false;
  };

  Helpers() = default;

  // Waits for the jobs under way.
  ~Helpers();
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

  // Returns false if there is no helper and none can be made. Then the caller has to do it.
  bool submit(Job& job, Length length) EXCLUDES(mutex_);

  // The same for a short one, but returns false also if half of them are at work.
  bool submit_if_free(Job& job) EXCLUDES(mutex_);

  // The same for a short one that nobody waits for. Returns false also if kMostLeft of these are
  // not done.
  bool leave(Job& job) EXCLUDES(mutex_);

  // Waits until no job is left to do. Returns false at the deadline. Requires: none is submitted
  // meanwhile.
  bool are_done_by(base::Deadline deadline) EXCLUDES(mutex_);

 private:
  class Queue {
   public:
    void push(Job& job);
    Job* pop();  // null: it is empty

   private:
    Job* first_ = nullptr;
    Job* last_ = nullptr;
  };

  void help() EXCLUDES(mutex_);
  Job* take(Length& length) REQUIRES(mutex_);
  bool start_thread() REQUIRES(mutex_);
  void push(Job& job, Length length) REQUIRES(mutex_);
  bool are_done() const REQUIRES(mutex_) { return queued_ == 0 && idle_ == threads_.size(); }

  base::Mutex mutex_;
  base::Condition one_came_;
  base::Condition all_done_;
  Queue short_ GUARDED_BY(mutex_);
  Queue long_ GUARDED_BY(mutex_);
  std::size_t idle_ GUARDED_BY(mutex_) = 0;
  std::size_t queued_ GUARDED_BY(mutex_) = 0;  // in both
  std::size_t long_at_work_ GUARDED_BY(mutex_) = 0;
  std::size_t left_ GUARDED_BY(mutex_) = 0;  // that are not done
  bool is_over_ GUARDED_BY(mutex_) = false;
  bool is_refused_ GUARDED_BY(mutex_) = false;  // only decides what is logged
  std::list<std::thread> threads_ GUARDED_BY(mutex_);
};

}  // namespace events
