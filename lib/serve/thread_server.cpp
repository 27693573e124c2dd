#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <exception>
#include <iterator>
#include <list>
#include <thread>

#include "base/log.h"
#include "base/mutex.h"
#include "base/stop_signals.h"
#include "serve/entrance.h"
#include "serve/one_connection.h"
#include "serve/places.h"
#include "serve/servers.h"
#include "serve/stream.h"
#include "telemetry/board.h"

namespace serve {

namespace {

// One thread, and the connection that it serves now, if any. Others take the mutex only in a drain,
// and when the connection may have to give way.
class Seat {
 public:
  std::thread thread;
  Place place;

  // Called by the thread itself, before and after each connection.
  void begin_connection(int fd) EXCLUDES(mutex_) { set(fd); }
  void end_connection() EXCLUDES(mutex_) { set(-1); }

  // Shuts the connection down. Returns false if there is none. Threads: any.
  bool shut_down(int how) EXCLUDES(mutex_) {
    const base::Lock lock(mutex_);
    return fd_ >= 0 && ::shutdown(fd_, how) == 0;
  }

  // Its connection gives way, if it still has that rank. Threads: any.
  bool give_way(Place::Rank rank) EXCLUDES(mutex_) {
    const base::Lock lock(mutex_);
    if (!place.give_way(rank)) return false;
    ::shutdown(fd_, SHUT_RDWR);
    return true;
  }

 private:
  void set(int fd) EXCLUDES(mutex_) {
    const base::Lock lock(mutex_);
    fd_ = fd;
  }

  base::Mutex mutex_;
  int fd_ GUARDED_BY(mutex_) = -1;  // -1: no connection
};

// An entrance, and the threads that wait for its connections.
struct EntranceOfThreads : Entrance {
  using Entrance::Entrance;
  std::atomic<int> waiting = 0;  // threads that are in accept or on their way there
  std::thread accepting = {};    // only without spare threads
};

class ThreadServer {
 public:
  ThreadServer(std::vector<Front> fronts, const Options& options)
      : options_(options),
        entrances_(std::make_move_iterator(fronts.begin()), std::make_move_iterator(fronts.end())),
        stop_signals_(base::open_stop_signals()),
        one_ended_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {}

  bool run() {
    if (!stop_signals_.is_open() || !one_ended_.is_open()) {
      base::log::error("cannot watch signals and threads: out of descriptors or memory");
      return false;
    }
    const bool is_started =
        std::all_of(entrances_.begin(), entrances_.end(),
                    [this](EntranceOfThreads& one) { return start_first_thread(one); });
    if (is_started) look_after_threads();
    drain();
    if (!is_started) return false;
    log_totals("stopped", totals_);
    return true;
  }

 private:
  bool start_first_thread(EntranceOfThreads& entrance) {
    if (options_.spare > 0) return start_successor(entrance);
    try {
      entrance.accepting = std::thread([this, &entrance] { accept_and_hand_over(entrance); });
    } catch (const std::exception& failure) {
      base::log::error("cannot start a thread reason=\"{}\"", failure.what());
      return false;
    }
    return true;
  }

  // The main thread, until a stop signal. With spare threads it joins the threads that ended.
  void look_after_threads() {
    for (;;) {
      pollfd events[] = {{stop_signals_.get(), POLLIN, 0}, {one_ended_.get(), POLLIN, 0}};
      ::poll(events, 2, -1);
      if (events[0].revents != 0) return;
      eventfd_t ignored = 0;
      ::eventfd_read(one_ended_.get(), &ignored);
      join_ended();
    }
  }

  // Without spare threads: one thread only accepts, as in the paper.
  void accept_and_hand_over(EntranceOfThreads& entrance) {
    const telemetry::Lease lease(options_.counters);
    while (auto arrival = entrance.acceptor.next()) {
      if (!entrance.acceptor.has_room_for(arrival->fd)) {
        refuse(std::move(arrival->fd), entrance.busy_answer);
        continue;
      }
      if (!take_place(arrival->peer)) {
        entrance.turn_away(std::move(*arrival));
        continue;
      }
      const int raw_fd = arrival->fd.get();
      const auto peer = arrival->peer;
      wait_for_seat();
      const bool is_started = start_thread([this, raw_fd, peer, &entrance](Seat& seat) {
        Arrival owned{net::Fd(raw_fd), peer};
        const telemetry::Lease lease_of_one(options_.counters);
        const auto worker = try_to_make_worker(entrance);
        if (worker) {
          serve_seated(seat, std::move(owned), *worker, entrance.encryption);
        } else {
          --serving_;
          refuse(std::move(owned.fd), entrance.busy_answer);
        }
      });
      if (is_started) {
        arrival->fd.release();
        continue;
      }
      --serving_;
      refuse(std::move(arrival->fd), entrance.busy_answer);
    }
  }

  // A thread ends soon after its place is free. Waiting for it keeps the threads from becoming more
  // than --max-connections, and more than a few above those that serve. Otherwise this thread makes
  // new ones faster than the others get time to end. Requires: take_place(), so not all threads
  // still serve.
  void wait_for_seat() EXCLUDES(mutex_) {
    constexpr int kMostEnding = 8;
    const base::Lock lock(mutex_);
    for (;;) {
      const int seats = static_cast<int>(seats_.size());
      if (seats < std::min(options_.max_connections, serving_ + kMostEnding)) return;
      one_left_.wait_ms(mutex_, kTryAgainMs);
    }
  }

  // Returns false if --max-connections are being served, and none of them gives way to this peer. A
  // connection that is refused takes no place, not even for a moment.
  bool take_place(const net::IpAddress& peer) {
    return take_free_place() || take_place_of_other(peer);
  }

  // Not inlined, as its variables would lie below each connection, in a page of their own.
  [[gnu::noinline]] bool take_place_of_other(const net::IpAddress& newcomer) EXCLUDES(mutex_) {
    const int places = options_.max_connections;
    if (!shares_.may_push_out(newcomer, places)) return false;
    const base::Lock lock(mutex_);
    for (int i = 0; i < kTriesToGiveWay; ++i) {
      const auto [seat, rank] = first_to_give_way(
          seats_, [](const Seat& one) -> const Place& { return one.place; }, shares_, places);
      if (seat == nullptr) return false;
      if (seat->give_way(rank)) return true;
    }
    return false;
  }

  bool take_free_place() {
    int serving = serving_;
    while (serving < options_.max_connections) {
      if (serving_.compare_exchange_weak(serving, serving + 1)) return true;
    }
    return false;
  }

  // With spare threads: the life of each thread. The last one that waits serves a connection only
  // if another one waits by then. So there is always one that answers, at least with `busy`.
  void accept_and_serve(EntranceOfThreads& entrance, Seat& seat) {
    const telemetry::Lease lease(options_.counters);
    auto worker = try_to_make_worker(entrance);
    do {
      auto arrival = entrance.acceptor.next();
      if (!arrival) return;
      const bool one_waits =
          entrance.waiting.fetch_sub(1) > 1 || start_successor(entrance) || entrance.waiting > 0;
      if (one_waits && worker == nullptr) worker = try_to_make_worker(entrance);
      const bool has_room = worker != nullptr && entrance.acceptor.has_room_for(arrival->fd);
      if (!has_room || !one_waits) {
        refuse(std::move(arrival->fd), entrance.busy_answer);
      } else if (take_place(arrival->peer)) {
        serve_seated(seat, std::move(*arrival), *worker, entrance.encryption);
      } else {
        entrance.turn_away(std::move(*arrival));
      }
    } while (waits_again(entrance));
  }

  // A thread that leaves is not counted, not even for a moment: another one would rely on it.
  bool waits_again(EntranceOfThreads& entrance) const {
    int waiting = entrance.waiting;
    while (waiting < options_.spare) {
      if (entrance.waiting.compare_exchange_weak(waiting, waiting + 1)) return true;
    }
    return false;
  }

  bool start_successor(EntranceOfThreads& entrance) {
    ++entrance.waiting;
    const bool is_started =
        start_thread([this, &entrance](Seat& seat) { accept_and_serve(entrance, seat); });
    if (!is_started) --entrance.waiting;
    return is_started;
  }

  // Nothing when memory or descriptors are short, which has been logged.
  std::unique_ptr<Worker> try_to_make_worker(const EntranceOfThreads& entrance) {
    try {
      auto worker = entrance.make_worker();
      if (is_short_of_threads_.load(std::memory_order_relaxed)) is_short_of_threads_ = false;
      return worker;
    } catch (const std::exception& failure) {
      warn_once(failure);
      return nullptr;
    }
  }

  void warn_once(const std::exception& failure) {
    if (is_short_of_threads_.exchange(true)) return;
    base::log::error("cannot start a thread reason=\"{}\"", failure.what());
  }

  // Requires: take_place(). The place is free again before the connection is closed. So whoever
  // sees the end of a connection finds its place free. If it has given way, another one has it.
  void serve_seated(Seat& seat, Arrival&& arrival, Worker& worker, const Encryption* encryption) {
    const int raw_fd = arrival.fd.get();
    const auto group = shares_.group_of(arrival.peer);
    Stream stream(std::move(arrival.fd), arrival.peer, options_.idle_timeout_ms, is_draining_,
                  options_.min_rate, encryption);
    stream.take(seat.place);
    seat.begin_connection(raw_fd);
    seat.place.begin(shares_, group);
    serve_one_connection(worker, stream, totals_);
    const bool has_place = seat.place.end(shares_);
    seat.end_connection();
    if (has_place) --serving_;
  }

  // Whoever makes a thread first joins those that ended, so they are never more than those that
  // served at once.
  template <typename Body>
  bool start_thread(Body body) EXCLUDES(mutex_) {
    join_ended();
    const base::Lock lock(mutex_);
    std::list<Seat> made;
    try {
      const auto seat = made.emplace(made.end());
      seat->thread = std::thread([this, seat, body] {
        body(*seat);
        leave(seat);
      });
    } catch (const std::exception& failure) {
      warn_once(failure);
      return false;
    }
    seats_.splice(seats_.end(), made);
    return true;
  }

  // The last step of a thread. It never waits for another one that ends, because they would form
  // a chain in which nobody ends before the slowest.
  void leave(std::list<Seat>::iterator seat) EXCLUDES(mutex_) {
    {
      const base::Lock lock(mutex_);
      ended_.splice(ended_.end(), seats_, seat);
      one_left_.wake_all();
    }
    if (options_.spare > 0) ::eventfd_write(one_ended_.get(), 1);
  }

  void join_ended() EXCLUDES(mutex_) {
    std::list<Seat> ended;
    {
      const base::Lock lock(mutex_);
      ended.swap(ended_);
    }
    for (Seat& seat : ended) seat.thread.join();
  }

  void drain() EXCLUDES(mutex_) {
    is_draining_.store(true, std::memory_order_release);
    if (options_.counters != nullptr) options_.counters->tell_draining();
    for (EntranceOfThreads& one : entrances_) {
      one.acceptor.stop();
      if (one.accepting.joinable()) one.accepting.join();
    }
    shut_down_all(SHUT_RD);
    if (!wait_until_all_left(base::Deadline::in_ms(options_.drain_ms))) {
      base::log::warn("connections cut at the end of the drain time connections={} drain_ms={}",
                      shut_down_all(SHUT_RDWR), options_.drain_ms);
      constexpr int kGraceMs = 1000;
      if (!wait_until_all_left(base::Deadline::in_ms(kGraceMs))) {
        log_totals("stopped while requests still wait for another server", totals_);
        options_.before_exit();
        ::_exit(0);  // these threads own nothing else that must be cleaned up
      }
    }
    join_ended();
  }

  std::size_t shut_down_all(int how) EXCLUDES(mutex_) {
    const base::Lock lock(mutex_);
    std::size_t connections = 0;
    for (Seat& seat : seats_) connections += seat.shut_down(how) ? 1 : 0;
    return connections;
  }

  bool wait_until_all_left(base::Deadline deadline) EXCLUDES(mutex_) {
    const base::Lock lock(mutex_);
    while (!seats_.empty() && !deadline.has_passed()) one_left_.wait_ms(mutex_, deadline.left_ms());
    return seats_.empty();
  }

  static constexpr int kTryAgainMs = 100;  // until a thread may have ended

  const Options options_;
  std::list<EntranceOfThreads> entrances_;
  const net::Fd stop_signals_;
  const net::Fd one_ended_;  // an eventfd: written when a thread ended

  std::atomic<bool> is_short_of_threads_ = false;  // relaxed: only decides what is logged
  std::atomic<bool> is_draining_ = false;          // set before the sockets are shut down

  // Written for each connection, so they are on another cache line than what each request reads.
  alignas(64) std::atomic<int> serving_ = 0;  // connections that have a place
  Totals totals_;
  AddressShares shares_;

  // Held when a thread starts or ends. A spare thread does not take it for a connection or a
  // request.
  base::Mutex mutex_;
  base::Condition one_left_;
  std::list<Seat> seats_ GUARDED_BY(mutex_);
  std::list<Seat> ended_ GUARDED_BY(mutex_);  // waiting to be joined
};

}  // namespace

bool serve_with_threads(std::vector<Front> fronts, const Options& options) {
  return ThreadServer(std::move(fronts), options).run();
}

}  // namespace serve
