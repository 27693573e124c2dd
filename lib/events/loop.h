// One thread that serves many: it goes on with whoever can go on.
//
//   Loop      waits for descriptors and times, and resumes those that waited for them
//   Task      work that a loop does in a context of its own
//   Watch     is told what happens to a descriptor
//   Timer     is told when its time has come
//   Helpers   threads that may block, for disks and for long computations
//
// The loop goes round by round. In a round it looks once what has happened, and then lets everybody
// go on for whom something has. A context goes on until it waits, or until it has used up its turn.
//
// Threads: a loop belongs to the thread that calls run(), and so does everything here that does not
// say otherwise.
#pragma once

#include <boost/intrusive/set.hpp>
#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "base/mutex.h"
#include "base/waits.h"
#include "events/helpers.h"
#include "net/fd.h"

namespace events {

class Flow;
class Loop;
class Spares;

inline constexpr std::int64_t kNever = INT64_MAX;  // as a time to wait until

// What can go on in this round. Stands in one queue at most.
class Runnable {
 protected:
  ~Runnable() = default;

 private:
  friend class Loop;
  friend class Queue;
  virtual void go_on(Loop& loop) = 0;
  Runnable* behind_ = nullptr;
  bool is_queued_ = false;
};

class Queue {
 public:
  bool is_empty() const { return first_ == nullptr; }
  void push(Runnable& one);
  Runnable* pop();  // null: it is empty
  void swap(Queue& other) {
    std::swap(first_, other.first_);
    std::swap(last_, other.last_);
  }

 private:
  Runnable* first_ = nullptr;
  Runnable* last_ = nullptr;
};

class Task : public Runnable {
 public:
  // Called in a context, where it may wait. Must not throw. The task may be gone when it returns.
  virtual void run() = 0;

 protected:
  ~Task() = default;

 private:
  void go_on(Loop& loop) final;
};

class Timer : public boost::intrusive::set_base_hook<> {
 public:
  // Must not wait.
  virtual void is_due() = 0;
  bool operator<(const Timer& other) const { return at_ns_ < other.at_ns_; }

 protected:
  ~Timer() = default;

 private:
  friend class Loop;
  std::int64_t at_ns_ = 0;
};

class Watch {
 public:
  // `events` are those of epoll. Must not wait.
  virtual void happened(std::uint32_t events) = 0;

 protected:
  ~Watch() = default;
};

// The descriptor that a task is about. Who waits for it in a context of the task costs no system
// call more. Each event is told once, when something has changed. So who has received less than
// there was room for waits before it asks the kernel again.
class OwnDescriptor : public Watch {
 public:
  // `unwatched` are the events of epoll that the loop tells it of, once somebody has waited for it.
  // A connection that is answered and closed without a wait is never watched. 0: it is watched, or
  // whoever reports what happens does so by itself.
  explicit OwnDescriptor(int fd, std::uint32_t unwatched = 0) : fd_(fd), unwatched_(unwatched) {}

  void happened(std::uint32_t events) final;

 protected:
  ~OwnDescriptor() = default;

  // Called for each event, before who waits goes on.
  virtual void came(std::uint32_t /*events*/) {}

 private:
  friend class Loop;
  const int fd_;
  std::uint32_t unwatched_;
  base::KnownOfSocket known_;
  Flow* waiting_ = nullptr;
  std::uint32_t wanted_ = 0;
};

// Is told at the end of each round.
class RoundEnd {
 public:
  virtual void round_ends() = 0;

 protected:
  ~RoundEnd() = default;
};

class Loop final : public base::Waits {
 public:
  // Throws std::system_error if there are no descriptors, and std::bad_alloc. `helpers` must
  // outlive the contexts of the loop.
  explicit Loop(Helpers& helpers);
  ~Loop();
  Loop(const Loop&) = delete;
  Loop& operator=(const Loop&) = delete;

  // That of this thread; null: it has none.
  static Loop* current();

  // Until stop() was called, and no context is in the middle.
  void run();
  void stop() { is_stopped_ = true; }

  // Has the call made by the loop, soon. Must not wait. Threads: any.
  void post(std::function<void()> call);

  // Whether something holds it up: it has not looked for a while, and does not sleep. Threads: any.
  bool stands_still(std::int64_t now_ns) const {
    constexpr std::int64_t kMostOfTurnNs = 100'000'000;
    return now_ns - awake_since_ns_.load(std::memory_order_relaxed) > kMostOfTurnNs;
  }

  // Lets the task run in this round. Requires: it is not queued already.
  void start(Task& task) { ready_.push(task); }

  // Tells a watch of these events of epoll, until the descriptor is closed. Returns false with
  // errno.
  bool watch(int fd, std::uint32_t events, Watch& watch);

  // The same for a descriptor that nobody has waited for yet. What is there already is told too.
  bool begin_to_watch(OwnDescriptor& own);

  // Says which descriptor the task that runs now is about; null: none.
  void set_own_descriptor(OwnDescriptor* own);

  void set_timer(Timer& timer, std::int64_t at_ns);
  void clear_timer(Timer& timer);

  void at_end_of_rounds(RoundEnd& one) { round_ends_.push_back(&one); }

  // Whether tasks wait for memory for a context.
  bool is_short_of_memory() const { return !starved_.is_empty(); }

  // The context that calls sleeps until another one of this loop wakes it. Returns false when the
  // time has come. It may return true for no reason.
  Flow& current_flow() { return *flow_; }
  bool sleep_until(std::int64_t until_ns);
  void wake(Flow& flow);

  // What a part of the program keeps for each loop; made by make() at first, destroyed with the
  // loop.
  template <typename Kept, typename Make>
  Kept& kept_for(const void* part, Make make) {
    for (const auto& [owner, kept] : kept_) {
      if (owner == part) return *static_cast<Kept*>(kept.get());
    }
    kept_.reserve(kept_.size() + 1);
    std::shared_ptr<Kept> made = make();
    kept_.emplace_back(part, made);  // cannot fail: what was made may be known elsewhere
    return *made;
  }

  // base::Waits
  base::KnownOfSocket* known_of(int fd) override;
  bool wait_for(int fd, short events, std::int64_t until_ns) override;
  bool sleep_on(const void* word, Has has, std::uint32_t value, std::int64_t until_ns) override;
  void pause_until(std::int64_t until_ns) override;
  void call_elsewhere(const base::WorkRef& work, Length length) override;
  bool call_elsewhere_if_free(const base::WorkRef& work) override;
  void destroy_elsewhere(std::unique_ptr<Remains> remains) override;
  void has_worked(int units) override;

 private:
  friend class Flow;
  friend class Task;
  class Bell;
  class NextTry;
  class Elsewhere;
  class Destruction;

  bool look_again_soon(std::int64_t until_ns);
  void look(int timeout_ms);
  int time_to_sleep_ms() const;
  void wake_due();
  void take_posted();
  void run_ready();
  void resume(Flow& flow);
  void set_free(std::unique_ptr<Flow> flow);
  void start_starved();
  void run_in_context(Task& task);
  std::unique_ptr<Flow> free_flow();
  void post_flow(Flow& flow) EXCLUDES(mutex_);
  void ring() EXCLUDES(mutex_);
  bool has_posted() EXCLUDES(mutex_);

  Helpers& helpers_;
  const net::Fd epoll_;
  const std::unique_ptr<Bell> bell_;  // wakes the loop out of its sleep
  bool is_stopped_ = false;

  Queue ready_;
  Queue next_round_;
  Queue starved_;  // tasks for which there was no context; one of them tries again soon
  const std::unique_ptr<NextTry> next_try_;
  Flow* flow_ = nullptr;  // that runs now
  std::size_t busy_flows_ = 0;
  const std::unique_ptr<Spares> spares_;
  bool is_shortage_logged_ = false;
  boost::intrusive::multiset<Timer> timers_;
  std::vector<RoundEnd*> round_ends_;
  std::vector<std::pair<const void*, std::shared_ptr<void>>> kept_;

  std::atomic<bool> is_asleep_ = false;
  std::atomic<std::int64_t> awake_since_ns_ =
      kNever;  // relaxed: only who is preferred depends on it
  base::Mutex mutex_;
  Flow* posted_flows_ GUARDED_BY(mutex_) = nullptr;  // in no order
  std::vector<std::function<void()>> posted_calls_ GUARDED_BY(mutex_);
};

}  // namespace events
