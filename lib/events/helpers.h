// Threads that may block, for those that may not.
#pragma once

#include <cstddef>
#include <list>
#include <thread>

#include "base/mutex.h"

namespace events {

// Threads: any. At most so many works go on at once; others wait in the order in which they came.
class Helpers {
 public:
  static constexpr std::size_t kMost = 32;

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
  };

  Helpers() = default;

  // Waits for the jobs under way.
  ~Helpers();
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

  // Returns false if there is no helper and none can be made. Then the caller has to do it.
  bool submit(Job& job) EXCLUDES(mutex_);

  // Returns false also if half of them are at work. So others are not kept waiting by it.
  bool submit_if_free(Job& job) EXCLUDES(mutex_);

 private:
  void help() EXCLUDES(mutex_);
  bool start_thread() REQUIRES(mutex_);
  void push(Job& job) REQUIRES(mutex_);

  base::Mutex mutex_;
  base::Condition one_came_;
  Job* first_ GUARDED_BY(mutex_) = nullptr;
  Job* last_ GUARDED_BY(mutex_) = nullptr;
  std::size_t idle_ GUARDED_BY(mutex_) = 0;
  std::size_t queued_ GUARDED_BY(mutex_) = 0;
  bool is_over_ GUARDED_BY(mutex_) = false;
  std::list<std::thread> threads_ GUARDED_BY(mutex_);
};

}  // namespace events
