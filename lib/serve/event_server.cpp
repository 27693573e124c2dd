#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/socket.h>
#include <unistd.h>

#include <algorithm>
#include <atomic>
#include <boost/intrusive/list.hpp>
#include <exception>
#include <memory>
#include <thread>

#include "base/completes.h"
#include "base/log.h"
#include "base/mutex.h"
#include "base/stop_signals.h"
#include "events/loop.h"
#include "serve/acceptor.h"
#include "serve/one_connection.h"
#include "serve/servers.h"
#include "serve/stream.h"
#include "telemetry/board.h"

namespace serve {

namespace {

namespace intrusive = boost::intrusive;

constexpr std::uint32_t kAllEvents = EPOLLIN | EPOLLOUT | EPOLLRDHUP | EPOLLET;

class Side;

// What clients connect to; shared by all sides.
struct Entrance {
  explicit Entrance(Front front)
      : acceptor(std::move(front.listener)),
        make_worker(std::move(front.make_worker)),
        busy_answer(front.busy_answer) {}

  Acceptor acceptor;
  const MakeWorker make_worker;
  std::string (*const busy_answer)();
};

// What the sides share.
struct Common {
  Common(const Options& the_options, std::vector<Front> the_fronts) : options(the_options) {
    for (Front& front : the_fronts) {
      const int fd = front.listener.fd.get();
      ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
      entrances.push_back(std::make_unique<Entrance>(std::move(front)));
    }
  }

  // Returns false if --max-connections are being served.
  bool take_place() {
    int serving = places_taken;
    while (serving < options.max_connections) {
      if (places_taken.compare_exchange_weak(serving, serving + 1)) return true;
    }
    return false;
  }
  void free_place() EXCLUDES(mutex) {
    if (--places_taken > 0 || !is_draining) return;
    const base::Lock lock(mutex);
    all_left.wake_all();
  }
  bool wait_until_all_left(base::Deadline deadline) EXCLUDES(mutex) {
    const base::Lock lock(mutex);
    while (places_taken > 0 && !deadline.has_passed()) all_left.wait_ms(mutex, deadline.left_ms());
    return places_taken == 0;
  }

  const Options options;
  std::vector<std::unique_ptr<Entrance>> entrances;
  std::vector<std::unique_ptr<Side>> sides;
  events::Helpers helpers;
  std::atomic<bool> is_draining = false;
  alignas(64) std::atomic<int> places_taken = 0;
  Totals totals;
  base::Mutex mutex;
  base::Condition all_left;
};

// A connection of a side. While it rests, this is all that it takes.
class Connection final : public events::Task,
                         public events::OwnDescriptor,
                         public intrusive::list_base_hook<intrusive::tag<struct OfSide>>,
                         public intrusive::list_base_hook<intrusive::tag<struct Resting>> {
 public:
  Connection(Arrival arrival, std::size_t its_front, Side& side, Common& common)
      : OwnDescriptor(arrival.fd.get()),
        stream(std::move(arrival.fd), arrival.peer, common.options.idle_timeout_ms,
               common.is_draining, common.options.min_rate),
        counted(stream, common.totals),
        front(its_front),
        side_(side) {
    stream.let_rest();
  }

  void run() override;

  Stream stream;
  const CountedConnection counted;
  const std::size_t front;

 private:
  void came(std::uint32_t events) override;
  Side& side_;
};

// Accepts at one entrance, for one side.
class Accepting final : public events::Task, public events::OwnDescriptor {
 public:
  Accepting(Entrance& entrance, std::size_t front, Side& side)
      : OwnDescriptor(entrance.acceptor.fd()), entrance_(entrance), front_(front), side_(side) {}
  void run() override;

 private:
  Entrance& entrance_;
  const std::size_t front_;
  Side& side_;
};

// A loop with its thread and its connections.
class Side final : public events::Timer {
 public:
  explicit Side(Common& common) : loop(common.helpers), common_(common) {
    for (std::size_t i = 0; i < common.entrances.size(); ++i)
      accepting_.push_back(std::make_unique<Accepting>(*common.entrances[i], i, *this));
    free_workers_.resize(common.entrances.size());
  }

  void start() {
    thread = std::thread([this] { run(); });
  }

  // Any thread.
  int connections() const { return connections_.load(std::memory_order_relaxed); }
  void take_from_other(Arrival arrival, std::size_t front) {
    connections_.fetch_add(1, std::memory_order_relaxed);
    loop.post([this, raw_fd = arrival.fd.release(), peer = arrival.peer, front] {
      begin({net::Fd(raw_fd), peer}, front);
    });
  }
  void drain() {
    loop.post([this] {
      for (auto& one : accepting_) one->happened(EPOLLIN);
      for (Connection& one : all_) ::shutdown(one.stream.fd(), SHUT_RD);
      while (!resting_.empty()) serve_again(resting_.front());
    });
  }
  void cut(std::atomic<int>& count) {
    loop.post([this, &count] {
      for (Connection& one : all_) {
        ::shutdown(one.stream.fd(), SHUT_RDWR);
        ++count;
      }
    });
  }
  void stop() {
    loop.post([this] { loop.stop(); });
  }

  // The rest is for the side's own thread.
  void admit(Arrival arrival, Entrance& entrance, std::size_t front);
  void serve(Connection& one);
  void serve_again(Connection& one);
  void is_due() override;

  events::Loop loop;
  std::thread thread;

 private:
  void run();
  Side& with_fewest();
  void begin(Arrival arrival, std::size_t front);
  void rest(Connection& one);
  void end(Connection& one);
  std::unique_ptr<Worker> take_worker(std::size_t front);

  Common& common_;
  std::vector<std::unique_ptr<Accepting>> accepting_;
  std::vector<std::vector<std::unique_ptr<Worker>>> free_workers_;  // of each front
  alignas(64) std::atomic<int> connections_ = 0;  // with those that are on their way here
  intrusive::list<Connection,
                  intrusive::base_hook<intrusive::list_base_hook<intrusive::tag<OfSide>>>>
      all_;
  // In the order in which their time ends.
  intrusive::list<Connection,
                  intrusive::base_hook<intrusive::list_base_hook<intrusive::tag<Resting>>>>
      resting_;
};

void Connection::run() {
  side_.loop.set_own_descriptor(this);
  side_.serve(*this);
}

void Connection::came(std::uint32_t events) {
  if ((events & ~std::uint32_t{EPOLLOUT}) == 0) return;
  stream.note_bytes();
  if ((events & (EPOLLRDHUP | EPOLLHUP | EPOLLERR)) != 0) stream.note_end();
  if (stream.is_resting()) side_.serve_again(*this);
}

void Accepting::run() {
  side_.loop.set_own_descriptor(this);
  while (auto arrival = entrance_.acceptor.next()) {
    side_.admit(std::move(*arrival), entrance_, front_);
    base::has_worked(1);
  }
}

void Side::run() {
  const telemetry::Lease lease(common_.options.counters);
  for (std::size_t i = 0; i < accepting_.size(); ++i) {
    loop.watch(common_.entrances[i]->acceptor.fd(), EPOLLIN | EPOLLET | EPOLLEXCLUSIVE,
               *accepting_[i]);
    loop.start(*accepting_[i]);
  }
  loop.run();
}

void Side::admit(Arrival arrival, Entrance& entrance, std::size_t front) {
  if (!common_.take_place()) return refuse(std::move(arrival.fd), entrance.busy_answer);
  Side& side = with_fewest();
  if (&side != this) return side.take_from_other(std::move(arrival), front);
  connections_.fetch_add(1, std::memory_order_relaxed);
  begin(std::move(arrival), front);
}

// This one, unless another one has clearly fewer.
Side& Side::with_fewest() {
  Side* fewest = this;
  for (const auto& one : common_.sides) {
    if (one->connections() + 1 < fewest->connections()) fewest = one.get();
  }
  return *fewest;
}

void Side::begin(Arrival arrival, std::size_t front) {
  std::unique_ptr<Connection> made;
  const bool is_made = base::completes("cannot serve a connection", [&] {
    made = std::make_unique<Connection>(std::move(arrival), front, *this, common_);
  });
  if (!is_made || !loop.watch(made->stream.fd(), kAllEvents, *made)) {
    connections_.fetch_sub(1, std::memory_order_relaxed);
    common_.free_place();
    return;
  }
  all_.push_back(*made);
  loop.start(*made.release());
}

void Side::serve(Connection& one) {
  auto worker = take_worker(one.front);
  if (worker == nullptr) {
    one.stream.abort();
  } else {
    serve_for_now(*worker, one.stream);
    free_workers_[one.front].push_back(std::move(worker));
  }
  if (one.stream.is_resting() && !common_.is_draining) {
    rest(one);
  } else if (one.stream.is_resting()) {
    one.stream.end_rest();
    loop.start(one);
  } else {
    end(one);
  }
}

std::unique_ptr<Worker> Side::take_worker(std::size_t front) {
  auto& free = free_workers_[front];
  std::unique_ptr<Worker> worker;
  if (!free.empty()) {
    worker = std::move(free.back());
    free.pop_back();
    return worker;
  }
  std::ignore = base::completes("cannot serve a connection",
                                [&] { worker = common_.entrances[front]->make_worker(); });
  return worker;
}

void Side::rest(Connection& one) {
  if (resting_.empty() && !one.stream.rest_deadline().is_never())
    loop.set_timer(*this, one.stream.rest_deadline().at_ns());
  resting_.push_back(one);
}

void Side::serve_again(Connection& one) {
  resting_.erase(resting_.iterator_to(one));
  one.stream.end_rest();
  loop.start(one);
}

// The time of the one that has rested longest may be over.
void Side::is_due() {
  while (!resting_.empty() && resting_.front().stream.rest_deadline().has_passed()) {
    Connection& one = resting_.front();
    resting_.pop_front();
    if (one.stream.goes_on_resting()) {
      resting_.push_back(one);
    } else {
      end(one);
    }
  }
  if (!resting_.empty()) loop.set_timer(*this, resting_.front().stream.rest_deadline().at_ns());
}

// The place is free again before the connection is closed. So whoever sees the end of a connection
// finds its place free.
void Side::end(Connection& one) {
  all_.erase(all_.iterator_to(one));
  connections_.fetch_sub(1, std::memory_order_relaxed);
  const std::unique_ptr<Connection> last(&one);
  common_.free_place();
}

class EventServer {
 public:
  EventServer(std::vector<Front> fronts, const Options& options)
      : common_(options, std::move(fronts)), stop_signals_(base::open_stop_signals()) {}

  bool run() {
    if (!stop_signals_.is_open()) {
      base::log::error("cannot watch signals: out of descriptors or memory");
      return false;
    }
    const bool is_started = base::completes("cannot start the loops", [this] { start(); });
    if (is_started) {
      pollfd stop{stop_signals_.get(), POLLIN, 0};
      while (::poll(&stop, 1, -1) <= 0) {
      }
    }
    drain();
    if (!is_started) return false;
    log_totals("stopped", common_.totals);
    return true;
  }

 private:
  void start() {
    for (int i = 0; i < loops_of(common_.options); ++i)
      common_.sides.push_back(std::make_unique<Side>(common_));
    for (const auto& side : common_.sides) side->start();
  }

  void drain() {
    common_.is_draining = true;
    for (const auto& one : common_.entrances) one->acceptor.stop();
    for (const auto& side : common_.sides) side->drain();
    const int drain_ms = static_cast<int>(common_.options.drain_ms);
    if (!common_.wait_until_all_left(base::Deadline::in_ms(drain_ms))) {
      std::atomic<int> count = 0;
      for (const auto& side : common_.sides) side->cut(count);
      constexpr int kGraceMs = 1000;
      const bool all_left = common_.wait_until_all_left(base::Deadline::in_ms(kGraceMs));
      base::log::warn("connections cut at the end of the drain time connections={} drain_ms={}",
                      count.load(), drain_ms);
      if (!all_left) {
        log_totals("stopped while requests still wait for another server", common_.totals);
        common_.options.before_exit();
        ::_exit(0);
      }
    }
    for (const auto& side : common_.sides) side->stop();
    for (const auto& side : common_.sides) {
      if (side->thread.joinable()) side->thread.join();
    }
  }

  Common common_;
  const net::Fd stop_signals_;
};

}  // namespace

bool serve_with_events(std::vector<Front> fronts, const Options& options) {
  return EventServer(std::move(fronts), options).run();
}

}  // namespace serve
