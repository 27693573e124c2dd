// Threads that may block, for those that may not.
#pragma once

#include <cstddef>
#include <cstdint>
#include <list>
#include <thread>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/waits.h"

namespace events {

// Threads: any. At most kMost jobs go on at once, of which half may be long; others of the same
// length wait in the order in which they came.
//
// A job that is not done after kPatienceMs hangs, if others wait then. One that hangs does not
// count, and another thread takes the place of its own. So whoever needs no disk that hangs is
// served, however many need one that does. A share of the threads for each device would not do: the
// device of a name is known only after the call that may hang.
class Helpers {
 public:
  static constexpr std::size_t kMost = 32;
  static constexpr std::size_t kMostLeft = 64;
  static constexpr int kPatienceMs = 100;
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

  // No further threads are made once `most_hung` jobs hang.
  explicit Helpers(std::size_t most_hung) : most_hung_(most_hung) {}

  // Waits for the jobs under way.
  ~Helpers();
  Helpers(const Helpers&) = delete;
  Helpers& operator=(const Helpers&) = delete;

  enum class Submitted {
    kRefused,  // there is no helper and none can be made, so the caller has to do it
    kBegins,
    kWaits,  // for others to end; whoever waits for it calls look_for_hung() every kPatienceMs
  };
  Submitted submit(Job& job, Length length) EXCLUDES(mutex_);

  // Finds the jobs that hang, and makes threads for those that wait.
  void look_for_hung() EXCLUDES(mutex_);

  // The same as submit() for a short one, but returns false if half of them are at work.
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
    bool is_empty() const { return first_ == nullptr; }

   private:
    Job* first_ = nullptr;
    Job* last_ = nullptr;
  };

  struct Helper {
    std::thread thread = {};
    std::int64_t begun_ns = 0;  // of its job; 0: it has none
    Length length = Length::kShort;
    bool is_left = false;  // its job
    bool hangs = false;
  };
  using Threads = std::list<Helper>;

  void help(Threads::iterator self) EXCLUDES(mutex_);
  Job* next(Threads::iterator self, std::thread& ended_before) EXCLUDES(mutex_);
  void note_done(Helper& helper) REQUIRES(mutex_);
  Job* take(Length& length) REQUIRES(mutex_);
  bool may_begin_long() const REQUIRES(mutex_);
  bool start_thread() REQUIRES(mutex_);
  void push(Job& job, Length length) REQUIRES(mutex_);
  bool are_done() const REQUIRES(mutex_) { return queued_ == 0 && idle_ == threads_.size(); }

  const std::size_t most_hung_;

  base::Mutex mutex_;
  base::Condition one_came_;
  base::Condition all_done_;
  Queue short_ GUARDED_BY(mutex_);
  Queue long_ GUARDED_BY(mutex_);
  std::size_t idle_ GUARDED_BY(mutex_) = 0;
  std::size_t queued_ GUARDED_BY(mutex_) = 0;  // in both
  std::size_t long_at_work_ GUARDED_BY(mutex_) = 0;
  std::size_t hung_ GUARDED_BY(mutex_) = 0;
  std::size_t hung_long_ GUARDED_BY(mutex_) = 0;  // of those
  std::size_t left_ GUARDED_BY(mutex_) = 0;       // that are not done
  std::int64_t look_again_ns_ GUARDED_BY(mutex_) = 0;
  bool is_over_ GUARDED_BY(mutex_) = false;
  bool is_refused_ GUARDED_BY(mutex_) = false;  // only decides what is logged
  Threads threads_ GUARDED_BY(mutex_);
  std::thread last_ended_ GUARDED_BY(mutex_);
};

}  // namespace events
