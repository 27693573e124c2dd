#include "serve/child.h"

#include <signal.h>
#include <sys/eventfd.h>
#include <sys/prctl.h>
#include <sys/socket.h>
#include <unistd.h>

#include <cerrno>
#include <exception>
#include <memory>
#include <optional>

#include "base/log.h"
#include "serve/stream.h"
#include "telemetry/board.h"

namespace serve {

const int kDrainSignal = SIGUSR1;

namespace {

// The signal handler's data; a handler can only use global variables. A child has one thread. They
// are set before the signal is unblocked, and lock-free, so the handler may read them at any
// moment.
std::atomic<bool> is_draining = false;
std::atomic<int> connection_fd = -1;
std::atomic<Acceptor*> shared_acceptor = nullptr;
std::atomic<const Scoreboard*> shared_scoreboard = nullptr;
std::atomic<const Place*> own_place = nullptr;
std::atomic<pid_t> parent_pid = -1;
static_assert(std::atomic<int>::is_always_lock_free && std::atomic<Acceptor*>::is_always_lock_free);

// A child whose parent died has another parent. The kernel changes that before it sends the signal.
bool must_finish() { return shared_scoreboard.load()->is_draining || ::getppid() != parent_pid; }

// Shutting down a socket ends a call that sleeps on it now, and also one that would begin to sleep
// a moment later. So no wake-up is lost. All processes that share the listener are told to finish
// at the same time, so each of them may shut it down.
void on_drain_signal(int) {
  const int saved_errno = errno;
  const Place* const place = own_place;
  const int fd = connection_fd;
  if (place != nullptr && place->has_given_way()) ::shutdown(fd, SHUT_RDWR);
  if (must_finish()) {  // else a stranger may have sent it
    is_draining = true;
    shared_acceptor.load()->stop();
    if (fd >= 0) ::shutdown(fd, SHUT_RD);
  }
  errno = saved_errno;
}

// The place is one of a connection while that has its descriptor here. So the signal never meets
// another connection.
void serve_arrival(Arrival arrival, const Options& options, Worker& worker,
                   const ChildPlace& child) {
  const int raw_fd = arrival.fd.get();
  Place& place = child.places[child.number];
  AddressShares& shares = child.scoreboard.shares;
  const auto group = shares.group_of(arrival.peer);
  std::optional<Encryption> encryption;
  if (child.entrance.encryption != nullptr) {
    encryption.emplace(*child.entrance.encryption);
    encryption->note = &child.handshake;
  }
  Stream stream(std::move(arrival.fd), arrival.peer, options.idle_timeout_ms, is_draining,
                options.min_rate, encryption ? &*encryption : nullptr);
  stream.take(place);
  connection_fd = raw_fd;
  own_place = &place;
  place.begin(shares, group);
  serve_one_connection(worker, stream, child.scoreboard.totals);
  place.end(shares);
  connection_fd = -1;  // before the descriptor is closed and its number is used again
}

// Only the parent can signal the child whose connection gives way.
bool takes_place_of_other(const net::IpAddress& newcomer, const ChildPlace& child, int places) {
  if (!let_one_give_way(child.places, child.scoreboard.shares, newcomer, places)) return false;
  ::eventfd_write(child.parent_event, 1);
  return true;
}

// Nothing when memory or descriptors are short. Of a shortage, one child logs one line.
std::unique_ptr<Worker> try_to_make(const MakeWorker& make_worker, Scoreboard& board) {
  try {
    auto worker = make_worker();
    board.is_short = false;
    return worker;
  } catch (const std::exception& failure) {
    if (!board.is_short.exchange(true))
      base::log::error("cannot serve a connection reason=\"{}\"", failure.what());
    return nullptr;
  }
}

}  // namespace

void hold_drain_signal() {
  sigset_t set;
  ::sigemptyset(&set);
  ::sigaddset(&set, kDrainSignal);
  ::sigprocmask(SIG_BLOCK, &set, nullptr);
}

void become_child(Acceptor& acceptor, const Scoreboard& scoreboard, pid_t parent) {
  shared_acceptor = &acceptor;
  shared_scoreboard = &scoreboard;
  parent_pid = parent;
  struct sigaction action {};
  action.sa_handler = on_drain_signal;
  action.sa_flags = SA_RESTART;  // a request under way must not fail because of it
  ::sigaction(kDrainSignal, &action, nullptr);
  ::signal(SIGTERM, SIG_IGN);
  ::signal(SIGINT, SIG_IGN);
  ::signal(SIGCHLD, SIG_DFL);
  sigset_t none;
  ::sigemptyset(&none);
  ::sigprocmask(SIG_SETMASK, &none, nullptr);
  ::prctl(PR_SET_PDEATHSIG, kDrainSignal);
  if (::getppid() != parent) ::raise(kDrainSignal);  // the parent died before prctl()
}

void accept_and_serve(const Options& options, ChildPlace place) {
  const telemetry::Lease lease(options.counters, place.number);
  Scoreboard& board = place.scoreboard;
  Acceptor& acceptor = place.entrance.acceptor;
  auto worker = try_to_make(place.entrance.make_worker, board);
  for (;;) {
    auto arrival = acceptor.next();
    if (!arrival) return;
    place.state = ChildState::kServing;
    const bool has_place = board.serving.fetch_add(1) < options.max_connections;
    const bool is_allowed =
        acceptor.has_room_for(arrival->fd) &&
        (has_place || takes_place_of_other(arrival->peer, place, options.max_connections));
    if (place.waiting.fetch_sub(1) == 1) ::eventfd_write(place.parent_event, 1);
    if (is_allowed && worker == nullptr) worker = try_to_make(place.entrance.make_worker, board);
    if (is_allowed && worker != nullptr) {
      serve_arrival(std::move(*arrival), options, *worker, place);
    } else {
      refuse(std::move(arrival->fd), place.entrance.busy_answer);
    }
    const bool is_wanted = place.waiting.fetch_add(1) < options.spare && !is_draining;
    place.state = is_wanted ? ChildState::kWaiting : ChildState::kDone;
    --board.serving;
    if (is_wanted) continue;
    --place.waiting;
    return;
  }
}

void serve_and_end(Arrival arrival, const Options& options, ChildPlace place) {
  const telemetry::Lease lease(options.counters, place.number);
  if (const auto worker = try_to_make(place.entrance.make_worker, place.scoreboard)) {
    serve_arrival(std::move(arrival), options, *worker, place);
  } else {
    refuse(std::move(arrival.fd), place.entrance.busy_answer);
  }
}

}  // namespace serve
