#include "serve/thread_server.h"

#include <sys/socket.h>
#include <unistd.h>

#include <atomic>
#include <list>
#include <thread>

#include "base/log.h"
#include "base/mutex.h"
#include "base/stop_signals.h"
#include "serve/acceptor.h"
#include "serve/connection.h"
#include "serve/one_connection.h"

namespace serve {

namespace {

// One thread, and the connection that it serves now, if any. The mutex is its own: nobody else
// takes it before the server drains.
class Seat {
 public:
  std::thread thread;

  // The thread itself, around each connection.
  void sit_down(int fd) EXCLUDES(mutex_) {
    const base::Lock lock(mutex_);
    fd_ = fd;
  }
  void get_up() EXCLUDES(mutex_) { sit_down(-1); }

  // Any thread. True when there was a connection.
  bool shut_down(int how) EXCLUDES(mutex_) {
    const base::Lock lock(mutex_);
    return fd_ >= 0 && ::shutdown(fd_, how) == 0;
  }

 private:
  base::Mutex mutex_;
  int fd_ GUARDED_BY(mutex_) = -1;
};

class ThreadServer {
 public:
  ThreadServer(net::Listener listener, const Options& options, const MakeWorker& make_worker)
      : options_(options), make_worker_(make_worker), acceptor_(std::move(listener)) {}

  bool run() {
    if (!start_first_thread()) return false;
    base::wait_for_stop_signal();
    drain();
    log_totals("stopped", totals_);
    return true;
  }

 private:
  bool start_first_thread() {
    if (options_.spare > 0) return start_successor();
    try {
      accepting_ = std::thread([this] { accept_and_hand_over(); });
    } catch (const std::system_error& failure) {
      base::log::error("cannot make a thread reason=\"{}\"", failure.what());
      return false;
    }
    return true;
  }

  // The paper's way: this thread only accepts.
  void accept_and_hand_over() {
    while (auto fd = acceptor_.next()) {
      if (serving_.fetch_add(1) >= options_.max_connections) {
        --serving_;
        refuse(std::move(*fd));
        continue;
      }
      const int raw_fd = fd->release();
      const bool is_started = start_thread([this, raw_fd](Seat& seat) {
        const auto worker = make_worker_();
        serve_seated(seat, net::Fd(raw_fd), *worker);
        --serving_;
      });
      if (!is_started) {
        --serving_;
        refuse(net::Fd(raw_fd));
      }
    }
  }

  // With spare threads: every thread does this.
  void accept_and_serve(Seat& seat) {
    const auto worker = make_worker_();
    do {
      auto fd = acceptor_.next();
      if (!fd) return;
      if (waiting_.fetch_sub(1) == 1) start_successor();
      if (serving_.fetch_add(1) < options_.max_connections) {
        serve_seated(seat, std::move(*fd), *worker);
      } else {
        refuse(std::move(*fd));
      }
      --serving_;
    } while (waits_again());
  }

  bool waits_again() {
    if (waiting_.fetch_add(1) < options_.spare) return true;
    --waiting_;
    return false;
  }

  // When no thread can be made, connections wait in the queue until a thread is done.
  bool start_successor() {
    ++waiting_;
    const bool is_started = start_thread([this](Seat& seat) { accept_and_serve(seat); });
    if (!is_started) --waiting_;
    return is_started;
  }

  void serve_seated(Seat& seat, net::Fd fd, Worker& worker) {
    const int raw_fd = fd.get();
    Connection connection(std::move(fd), options_.idle_timeout_ms, is_draining_);
    seat.sit_down(raw_fd);
    serve_one_connection(worker, connection, totals_);
    seat.get_up();
  }

  template <typename Body>
  bool start_thread(Body body) EXCLUDES(mutex_) {
    const base::Lock lock(mutex_);
    const auto seat = seats_.emplace(seats_.end());
    try {
      seat->thread = std::thread([this, seat, body] {
        body(*seat);
        leave(seat);
      });
    } catch (const std::system_error& failure) {
      seats_.erase(seat);
      base::log::error("cannot make a thread reason=\"{}\" threads={}", failure.what(),
                       seats_.size());
      return false;
    }
    return true;
  }

  // A thread cannot join itself: each that ends joins the one that ended before it, and the last is
  // joined by drain().
  void leave(std::list<Seat>::iterator seat) EXCLUDES(mutex_) {
    std::list<Seat> before_me;
    {
      const base::Lock lock(mutex_);
      before_me.swap(ended_);
      ended_.splice(ended_.end(), seats_, seat);
      if (seats_.empty()) all_left_.wake_all();
    }
    for (Seat& ended : before_me) ended.thread.join();
  }

  void drain() EXCLUDES(mutex_) {
    is_draining_.store(true, std::memory_order_release);
    acceptor_.stop();
    if (accepting_.joinable()) accepting_.join();
    shut_down_all(SHUT_RD);
    if (!wait_until_all_left(base::Deadline::in_ms(options_.drain_ms))) {
      base::log::warn("cut after draining connections={} drain_ms={}", shut_down_all(SHUT_RDWR),
                      options_.drain_ms);
      constexpr int kGraceMs = 1000;
      if (!wait_until_all_left(base::Deadline::in_ms(kGraceMs))) {
        log_totals("stopped with requests still waiting for a server behind us", totals_);
        ::_exit(0);  // their threads hold nothing that outlives the process
      }
    }
    std::list<Seat> last;
    {
      const base::Lock lock(mutex_);
      last.swap(ended_);
    }
    for (Seat& ended : last) ended.thread.join();
  }

  std::size_t shut_down_all(int how) EXCLUDES(mutex_) {
    const base::Lock lock(mutex_);
    std::size_t connections = 0;
    for (Seat& seat : seats_) connections += seat.shut_down(how) ? 1 : 0;
    return connections;
  }

  bool wait_until_all_left(base::Deadline deadline) EXCLUDES(mutex_) {
    const base::Lock lock(mutex_);
    while (!seats_.empty() && !deadline.has_passed()) all_left_.wait_ms(mutex_, deadline.left_ms());
    return seats_.empty();
  }

  const Options options_;
  const MakeWorker& make_worker_;
  Acceptor acceptor_;
  std::thread accepting_;  // only without spare threads

  // Counters. `waiting_` counts threads in accept, or on their way there.
  std::atomic<int> waiting_ = 0;
  std::atomic<int> serving_ = 0;
  std::atomic<bool> is_draining_ = false;  // set before the sockets are shut down
  Totals totals_;

  // Taken when a thread starts or ends, not for a connection or a request of a spare thread.
  base::Mutex mutex_;
  base::Condition all_left_;
  std::list<Seat> seats_ GUARDED_BY(mutex_);
  std::list<Seat> ended_ GUARDED_BY(mutex_);  // at most one, waiting to be joined
};

}  // namespace

bool serve_with_threads(net::Listener listener, const Options& options,
                        const MakeWorker& make_worker) {
  return ThreadServer(std::move(listener), options, make_worker).run();
}

}  // namespace serve
