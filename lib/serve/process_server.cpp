#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <sys/eventfd.h>
#include <sys/signalfd.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <deque>
#include <iterator>
#include <utility>
#include <vector>

#include "base/clock.h"
#include "base/completes.h"
#include "base/hangup_signal.h"
#include "base/log.h"
#include "base/stop_signals.h"
#include "net/socket_io.h"
#include "serve/acceptor.h"
#include "serve/child.h"
#include "serve/servers.h"
#include "serve/shared_memory.h"
#include "telemetry/board.h"

namespace serve {

namespace {

// How many processes are in accept, or on their way there.
using Waiting = Shared<std::atomic<int>>;

// An entrance, and the processes that wait for its connections.
struct EntranceOfProcesses : Entrance {
  using Entrance::Entrance;
  Waiting waiting;
  bool lacks_a_child = false;  // then the parent accepts
};

// Once it serves, the parent allocates nothing but for a SIGHUP, so that it outlives a shortage of
// memory.
class ProcessServer {
 public:
  ProcessServer(std::vector<Front> fronts, const Options& options)
      : options_(options),
        entrances_(std::make_move_iterator(fronts.begin()), std::make_move_iterator(fronts.end())),
        most_children_(static_cast<std::size_t>(options.max_connections) +
                       entrances_.size() * static_cast<std::size_t>(options.spare + 1)),
        states_(most_children_),
        places_(most_children_),
        handshakes_(most_children_),
        signals_(base::open_stop_and_child_signals()),
        child_tells_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        pids_(most_children_, kNobody),
        entrance_of_(most_children_) {
    hold_drain_signal();
    free_places_.reserve(most_children_);
    for (std::size_t place = most_children_; place > 0; --place) free_places_.push_back(place - 1);
    events_.resize(kOwnEvents + entrances_.size(), {-1, POLLIN, 0});
    // poll() may report a connection that is gone before accept(). Then the parent must not sleep.
    for (const Entrance& one : entrances_) {
      if (options_.spare == 0)
        ::fcntl(one.acceptor.fd(), F_SETFL, ::fcntl(one.acceptor.fd(), F_GETFL) | O_NONBLOCK);
    }
  }

  bool run() {
    const telemetry::Lease lease(options_.counters, most_children_);  // the place behind all others
    if (!signals_.is_open() || !child_tells_.is_open()) {
      base::log::error("cannot watch child processes: out of descriptors or memory");
      return false;
    }
    while (!must_stop_) {
      const bool nobody_waits = options_.spare > 0 && !fork_spares();
      wait_for_events(nobody_waits ? base::Deadline::in_ms(kWaitMs) : base::Deadline::never(),
                      options_.spare == 0 || nobody_waits);
    }
    drain();
    log_totals("stopped", board_->totals);
    return true;
  }

 private:
  // The wait before the next try, when there are no resources for a further child or connection.
  static constexpr int kWaitMs = 100;

  static constexpr pid_t kNobody = 0;
  static constexpr std::size_t kOwnEvents = 3;  // before those of the entrances

  // Waits for a signal, the end of a child, or the moment when no spare child waits. Also for
  // connections, which the parent accepts, if there are no spare processes or none can be forked.
  void wait_for_events(base::Deadline deadline, bool with_connections) {
    events_[0].fd = signals_.get();
    events_[1].fd = child_tells_.get();
    events_[2].fd = options_.hangups;
    for (std::size_t i = 0; i < entrances_.size(); ++i) {
      const bool accepts = with_connections && (options_.spare == 0 || entrances_[i].lacks_a_child);
      events_[kOwnEvents + i].fd = accepts ? entrances_[i].acceptor.fd() : -1;
    }
    if (::poll(events_.data(), events_.size(), deadline.left_ms()) <= 0) return;
    if (events_[2].revents != 0 && base::take_hangup_signal(options_.hangups))
      static_cast<void>(base::completes("SIGHUP was passed over", options_.on_hangup));
    if (events_[0].revents != 0) read_signals();
    if (events_[1].revents != 0) {
      eventfd_t ignored = 0;
      ::eventfd_read(child_tells_.get(), &ignored);
      tell_those_that_give_way();
    }
    for (std::size_t i = 0; i < entrances_.size() && !must_stop_; ++i) {
      if (events_[kOwnEvents + i].revents == 0) continue;
      if (options_.spare == 0) {
        accept_and_fork(i);
      } else if (events_[0].revents == 0) {  // else there may be room for a child now
        accept_and_refuse(entrances_[i]);
      }
    }
  }

  void tell_those_that_give_way() const {
    for (std::size_t place = 0; place < most_children_; ++place) {
      if (pids_[place] != kNobody && places_[place].has_given_way())
        ::kill(pids_[place], kDrainSignal);
    }
  }

  void read_signals() {
    signalfd_siginfo info{};
    while (::read(signals_.get(), &info, sizeof info) == sizeof info) {
      if (info.ssi_signo != SIGCHLD) must_stop_ = true;
    }
    reap();
  }

  void reap() {
    int status = 0;
    for (pid_t pid = 0; (pid = ::waitpid(-1, &status, WNOHANG)) > 0;) {
      const auto child = std::ranges::find(pids_, pid);
      if (child == pids_.end()) {
        if (options_.other_child_ended) options_.other_child_ended(pid);
        continue;
      }
      const auto place = static_cast<std::size_t>(child - pids_.begin());
      settle(place, pid, status);
      free_places_.push_back(place);
      *child = kNobody;
    }
  }

  // Corrects the scoreboard for a child that was killed and could not do so itself.
  void settle(std::size_t place, pid_t pid, int status) {
    if (options_.counters != nullptr) options_.counters->release_place(place);
    places_[place].end(board_->shares);
    EntranceOfProcesses& entrance = entrances_[entrance_of_[place]];
    if (entrance.encryption != nullptr) handshakes_[place].settle(entrance.encryption->handshakes);
    if (options_.spare == 0) --board_->serving;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    base::log::error("a child died pid={} status={:#x}", pid, static_cast<unsigned>(status));
    if (options_.spare == 0) return;
    const ChildState state = states_[place];
    if (state == ChildState::kWaiting) --*entrance.waiting;
    if (state == ChildState::kServing) --board_->serving;
  }

  // Returns false if a child waits at none of some entrance.
  bool fork_spares() {
    bool is_complete = true;
    for (std::size_t i = 0; i < entrances_.size(); ++i) {
      EntranceOfProcesses& one = entrances_[i];
      one.lacks_a_child = *one.waiting <= 0 && !fork_spare(i);
      is_complete = is_complete && !one.lacks_a_child;
    }
    return is_complete;
  }

  bool fork_spare(std::size_t entrance) {
    std::atomic<int>& waiting = *entrances_[entrance].waiting;
    ++waiting;
    const bool is_forked =
        fork_child(entrance, [&](const ChildPlace& place) { accept_and_serve(options_, place); });
    if (!is_forked) --waiting;
    return is_forked;
  }

  // A child that has just become free may be faster. Then the parent must not sleep in accept for
  // long. A child that gets the short time only looks at the clock more often.
  void accept_and_refuse(const Entrance& entrance) const {
    const int listener = entrance.acceptor.fd();
    net::set_io_timeout(listener, kWaitMs);
    net::Accepted accepted = net::accept_from(listener);
    net::set_io_timeout(listener, io_slice_ms(options_.idle_timeout_ms));
    if (accepted.verdict == net::AcceptVerdict::kAccepted)
      refuse(std::move(accepted.fd), entrance.busy_answer);
  }

  void accept_and_fork(std::size_t at) {
    Entrance& entrance = entrances_[at];
    net::Accepted accepted = net::accept_from(entrance.acceptor.fd());
    if (accepted.verdict == net::AcceptVerdict::kOutOfResources) {
      warn_once("cannot accept", accepted.errno_value);
      base::pause_ms(kWaitMs);
    }
    if (accepted.verdict != net::AcceptVerdict::kAccepted) return;
    bool is_forked = false;
    if (entrance.acceptor.has_room_for(accepted.fd) && has_place_for(accepted.peer)) {
      ++board_->serving;
      is_forked = fork_child(at, [&](const ChildPlace& place) {
        serve_and_end({std::move(accepted.fd), accepted.peer}, options_, place);
      });
      if (!is_forked) --board_->serving;
    }
    if (!is_forked) refuse(std::move(accepted.fd), entrance.busy_answer);
  }

  // Without spare processes. A child that gives way counts until it has ended.
  bool has_place_for(const net::IpAddress& peer) const {
    if (board_->serving < options_.max_connections) return true;
    if (free_places_.empty()) return false;
    const auto place =
        let_one_give_way(places_.all(), board_->shares, peer, options_.max_connections);
    if (place) ::kill(pids_[*place], kDrainSignal);
    return place.has_value();
  }

  template <typename Life>
  bool fork_child(std::size_t entrance, Life life) {
    if (free_places_.empty())
      return false;  // children that have ended but are not reaped yet hold them
    const std::size_t place = free_places_.back();
    states_[place] = ChildState::kWaiting;
    const pid_t parent = ::getpid();
    const pid_t pid = ::fork();
    if (pid < 0) {
      warn_once("cannot fork", errno);
      return false;
    }
    if (pid == 0) {
      signals_ = net::Fd();
      become_child(entrances_[entrance].acceptor, *board_, parent);
      const bool is_done =
          base::completes("a child failed", [&] { life(child_place(place, entrance)); });
      ::_exit(is_done ? 0 : 1);  // without destructors: the objects belong to the parent
    }
    has_warned_ = false;
    free_places_.pop_back();
    pids_[place] = pid;
    entrance_of_[place] = entrance;
    return true;
  }

  ChildPlace child_place(std::size_t place, std::size_t entrance) {
    EntranceOfProcesses& own = entrances_[entrance];
    return {place,
            own,
            *board_,
            *own.waiting,
            states_[place],
            places_.all(),
            child_tells_.get(),
            handshakes_[place]};
  }

  void warn_once(const char* what, int errno_value) {
    if (std::exchange(has_warned_, true)) return;
    base::log::error("{} children={} reason=\"{}\"", what, children(),
                     ::strerror(errno_value));  // of one thread
  }

  void drain() {
    board_->is_draining = true;
    if (options_.counters != nullptr) options_.counters->tell_draining();
    signal_all(kDrainSignal);
    for (Entrance& one : entrances_) one.acceptor.stop();
    const auto deadline = base::Deadline::in_ms(options_.drain_ms);
    while (children() > 0 && !deadline.has_passed()) wait_for_events(deadline, false);
    if (children() == 0) return;
    base::log::warn("connections cut at the end of the drain time connections={} drain_ms={}",
                    children(), options_.drain_ms);
    signal_all(SIGKILL);
    while (children() > 0) wait_for_events(base::Deadline::never(), false);
  }

  void signal_all(int signal) const {
    for (const pid_t pid : pids_) {
      if (pid != kNobody) ::kill(pid, signal);
    }
  }

  std::size_t children() const { return most_children_ - free_places_.size(); }

  const Options options_;
  std::deque<EntranceOfProcesses> entrances_;
  const std::size_t most_children_;
  const Shared<Scoreboard> board_;
  const SharedArray<std::atomic<ChildState>> states_;  // one for each possible child
  const SharedArray<Place> places_;                    // the same
  const SharedArray<HandshakeNote> handshakes_;        // the same
  net::Fd signals_;
  net::Fd child_tells_;  // an eventfd: no child waits any more, or one gives way

  bool must_stop_ = false;
  bool has_warned_ = false;
  std::vector<pid_t> pids_;               // of the child at each place
  std::vector<std::size_t> entrance_of_;  // the same
  std::vector<std::size_t> free_places_;  // indices of states_ and pids_
  std::vector<pollfd> events_;            // kept, as the parent allocates nothing
};

}  // namespace

bool serve_with_processes(std::vector<Front> fronts, const Options& options) {
  return ProcessServer(std::move(fronts), options).run();
}

}  // namespace serve
