#include "serve/event_side.h"

#include <fcntl.h>
#include <sys/epoll.h>
#include <sys/socket.h>

#include <algorithm>
#include <cerrno>
#include <memory>
#include <string>
#include <system_error>
#include <tuple>
#include <utility>

#include "base/clock.h"
#include "base/completes.h"
#include "net/socket_io.h"
#include "telemetry/board.h"
#include "telemetry/counters.h"

namespace serve {

namespace {

constexpr std::size_t kMostFreeWorkers = 64;  // of each front; what one needs is made again soon
constexpr std::uint32_t kAllEvents = EPOLLIN | EPOLLPRI | EPOLLOUT | EPOLLRDHUP | EPOLLET;

}  // namespace

EventCommon::EventCommon(const Options& the_options, std::vector<Front> the_fronts)
    : options(the_options),
      helpers(static_cast<std::size_t>(the_options.max_connections) + events::Helpers::kMostLeft) {
  for (Front& front : the_fronts) {
    const int fd = front.listener.fd.get();
    ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK);
    entrances.push_back(std::make_unique<Entrance>(std::move(front)));
  }
}

bool EventCommon::take_place() {
  int serving = places_taken;
  while (serving < options.max_connections) {
    if (places_taken.compare_exchange_weak(serving, serving + 1)) return true;
  }
  return false;
}

void EventCommon::free_place() {
  if (--places_taken > 0 || !is_draining) return;
  const base::Lock lock(mutex);
  all_left.wake_all();
}

bool EventCommon::wait_until_all_left(base::Deadline deadline) {
  const base::Lock lock(mutex);
  while (places_taken > 0 && !deadline.has_passed()) all_left.wait_ms(mutex, deadline.left_ms());
  return places_taken == 0;
}

EventConnection::EventConnection(Arrival&& arrival, std::size_t its_front, Side& side,
                                 EventCommon& common)
    : OwnDescriptor(arrival.fd.get(), kAllEvents),
      stream(std::move(arrival.fd), arrival.peer, common.options.idle_timeout_ms,
             common.is_draining, common.options.min_rate, common.entrances[its_front]->encryption),
      counted(stream, common.totals),
      front(its_front),
      side_(side) {
  stream.let_rest();
  stream.take(place);
}

void EventConnection::run() {
  side_.loop.set_own_descriptor(this);
  side_.serve(*this);
}

void EventConnection::came(std::uint32_t events) {
  if ((events & ~std::uint32_t{EPOLLOUT}) == 0) return;
  stream.note_bytes();
  if ((events & EPOLLPRI) != 0) stream.note_mark();
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

Side::Side(EventCommon& common) : loop(common.helpers), common_(common) {
  for (std::size_t i = 0; i < common.entrances.size(); ++i)
    accepting_.push_back(std::make_unique<Accepting>(*common.entrances[i], i, *this));
  free_workers_.resize(common.entrances.size());
  for (auto& workers : free_workers_) workers.reserve(kMostFreeWorkers);
  for (std::size_t i = 0; i < accepting_.size(); ++i) {
    const int fd = common.entrances[i]->acceptor.fd();
    if (!loop.watch(fd, EPOLLIN | EPOLLET | EPOLLEXCLUSIVE, *accepting_[i]))
      throw std::system_error(errno, std::generic_category(), "cannot watch a listener");
  }
}

void Side::start() {
  thread = std::thread([this] { run(); });
}

// Has take() called by this side, soon. If there is no memory for that, refuses the connection.
template <typename Take>
bool Side::post_arrival(Arrival arrival, std::size_t front, Take take) {
  std::shared_ptr<Arrival> taken;
  const bool is_posted = base::completes("cannot serve a connection", [&] {
    taken = std::make_shared<Arrival>(std::move(arrival));
    loop.post([taken, take] { take(std::move(*taken)); });
  });
  if (!is_posted)
    refuse(std::move((taken ? *taken : arrival).fd), common_.entrances[front]->busy_answer);
  return is_posted;
}

bool Side::take_from_other(Arrival arrival, std::size_t front) {
  const bool is_taken = post_arrival(
      std::move(arrival), front, [this, front](Arrival taken) { begin(std::move(taken), front); });
  if (is_taken) connections_.fetch_add(1, std::memory_order_relaxed);
  return is_taken;
}

void Side::drain() {
  loop.post([this] {
    for (auto& one : accepting_) one->happened(EPOLLIN);
    for (EventConnection& one : all_) ::shutdown(one.stream.fd(), SHUT_RD);
    while (!resting_.empty()) serve_again(*resting_.begin());
  });
}

void Side::cut(std::atomic<int>& count) {
  loop.post([this, &count] {
    for (EventConnection& one : all_) {
      ::shutdown(one.stream.fd(), SHUT_RDWR);
      ++count;
    }
  });
}

void Side::stop() {
  loop.post([this] { loop.stop(); });
}

void Side::run() {
  const telemetry::Lease lease(common_.options.counters);
  for (const auto& one : accepting_) loop.start(*one);
  loop.run();
}

void Side::admit(Arrival arrival, Entrance& entrance, std::size_t front) {
  if (loop.is_short_of_memory() || !entrance.acceptor.has_room_for(arrival.fd))
    return refuse(std::move(arrival.fd), entrance.busy_answer);
  if (!common_.take_place()) {
    if (!common_.shares.may_push_out(arrival.peer, common_.options.max_connections))
      return entrance.turn_away(std::move(arrival));
    return admit_in_place_of_other(std::move(arrival), front, 1);
  }
  Side& side = with_fewest();
  if (&side == this) {
    connections_.fetch_add(1, std::memory_order_relaxed);
    return begin(std::move(arrival), front);
  }
  if (!side.take_from_other(std::move(arrival), front)) common_.free_place();
}

// Each side knows its own connections. The newcomer goes from one to the other until one gives way,
// and takes its place on the same side. Who has begun a request does so only in the second round.
void Side::admit_in_place_of_other(Arrival arrival, std::size_t front, std::size_t sides_asked) {
  const std::size_t sides = common_.sides.size();
  if (lets_one_give_way(sides_asked <= sides)) {
    connections_.fetch_add(1, std::memory_order_relaxed);
    return begin(std::move(arrival), front);
  }
  if (sides_asked == 2 * sides) return common_.entrances[front]->turn_away(std::move(arrival));
  Side& other = next();
  other.post_arrival(std::move(arrival), front, [&other, front, sides_asked](Arrival taken) {
    other.admit_in_place_of_other(std::move(taken), front, sides_asked + 1);
  });
}

// A connection that does not rest is left by its context soon, which ends it.
bool Side::lets_one_give_way(bool must_be_silent) {
  for (int i = 0; i < kTriesToGiveWay; ++i) {
    const auto first_of = [this](auto& connections) {
      return first_to_give_way(
          connections, [](const EventConnection& each) -> const Place& { return each.place; },
          common_.shares, common_.options.max_connections);
    };
    const auto [one, rank] = must_be_silent ? first_of(resting_) : first_of(all_);
    if (one == nullptr) return false;
    if (!one->place.give_way(rank)) continue;
    if (one->stream.is_resting()) {
      resting_.erase(resting_.iterator_to(*one));
      end(*one);
    } else {
      ::shutdown(one->stream.fd(), SHUT_RDWR);
    }
    return true;
  }
  return false;
}

// One that is held up would let the newcomer wait.
Side& Side::next() {
  auto& sides = common_.sides;
  const std::int64_t now_ns = base::now_ns();
  auto one = std::ranges::find(sides, this, &std::unique_ptr<Side>::get);
  do {
    if (++one == sides.end()) one = sides.begin();
  } while (one->get() != this && (*one)->loop.stands_still(now_ns));
  return **one;
}

// This one, unless another one has clearly fewer. A loop that is held up gets none.
Side& Side::with_fewest() {
  const std::int64_t now_ns = base::now_ns();
  Side* fewest = this;
  for (const auto& one : common_.sides) {
    if (one->connections() + 1 >= fewest->connections()) continue;
    if (!one->loop.stands_still(now_ns)) fewest = one.get();
  }
  return *fewest;
}

void Side::begin(Arrival arrival, std::size_t front) {
  const auto group = common_.shares.group_of(arrival.peer);
  std::unique_ptr<EventConnection> made;
  const bool is_made = base::completes("cannot serve a connection", [&] {
    made = std::make_unique<EventConnection>(std::move(arrival), front, *this, common_);
  });
  if (!is_made) {
    connections_.fetch_sub(1, std::memory_order_relaxed);
    common_.free_place();
    return refuse(std::move(arrival.fd), common_.entrances[front]->busy_answer);
  }
  made->place.begin(common_.shares, group);
  all_.push_back(*made);
  loop.start(*made.release());
}

void Side::serve(EventConnection& one) {
  auto worker = take_worker(one.front);
  if (worker == nullptr) {
    say_busy(one);
  } else {
    serve_for_now(*worker, one.stream);
    auto& free = free_workers_[one.front];
    if (free.size() < kMostFreeWorkers) free.push_back(std::move(worker));
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

void Side::say_busy(EventConnection& one) {
  telemetry::add(telemetry::Count::kConnectionsRefused);
  std::ignore = base::completes("cannot serve a connection", [&] {
    net::send_now(one.stream.fd(), common_.entrances[one.front]->busy_answer());
  });
  one.stream.end_gently();
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

void Side::rest(EventConnection& one) {
  if (!loop.begin_to_watch(one)) return end(one);
  const auto place = resting_.insert(resting_.end(), one);  // nearly always it is the last one
  if (place == resting_.begin() && !one.stream.next_check().is_never())
    loop.set_timer(*this, one.stream.next_check().at_ns());
}

void Side::serve_again(EventConnection& one) {
  resting_.erase(resting_.iterator_to(one));
  one.stream.end_rest();
  loop.start(one);
}

// The time of the first ones may be over.
void Side::is_due() {
  while (!resting_.empty() && resting_.begin()->stream.next_check().has_passed()) {
    EventConnection& one = *resting_.begin();
    resting_.erase(resting_.begin());
    if (one.stream.goes_on_resting()) {
      rest(one);
    } else {
      end(one);
    }
  }
  if (!resting_.empty() && !resting_.begin()->stream.next_check().is_never())
    loop.set_timer(*this, resting_.begin()->stream.next_check().at_ns());
}

// The place is free again before the connection is closed. So whoever sees the end of a connection
// finds its place free. If it has given way, another one has it.
void Side::end(EventConnection& one) {
  all_.erase(all_.iterator_to(one));
  connections_.fetch_sub(1, std::memory_order_relaxed);
  const std::unique_ptr<EventConnection> last(&one);
  if (one.place.end(common_.shares)) common_.free_place();
}

}  // namespace serve
