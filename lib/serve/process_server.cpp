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

// Once it serves, the parent allocates nothing but for a SIGHUP, so that it outlives a shortage of
// memory.
class ProcessServer {
 public:
  ProcessServer(Front front, const Options& options)
      : options_(options),
        make_worker_(std::move(front.make_worker)),
        busy_answer_(front.busy_answer),
        acceptor_(std::move(front.listener)),
        most_children_(static_cast<std::size_t>(options.max_connections + options.spare + 1)),
        states_(most_children_),
        places_(most_children_),
        signals_(base::open_stop_and_child_signals()),
        child_tells_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)),
        pids_(most_children_, kNobody) {
    hold_drain_signal();
    free_places_.reserve(most_children_);
    for (std::size_t place = most_children_; place > 0; --place) free_places_.push_back(place - 1);
    // poll() may report a connection that is gone before accept(). Then the parent must not sleep.
    if (options_.spare == 0)
      ::fcntl(acceptor_.fd(), F_SETFL, ::fcntl(acceptor_.fd(), F_GETFL) | O_NONBLOCK);
  }

  bool run() {
    const telemetry::Lease lease(options_.counters, most_children_);  // the place behind all others
    if (!signals_.is_open() || !child_tells_.is_open()) {
      base::log::error("cannot watch child processes: out of descriptors or memory");
      return false;
    }
    while (!must_stop_) {
      const bool nobody_waits = options_.spare > 0 && board_->waiting <= 0 && !fork_spare();
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

  // Waits for a signal, the end of a child, or the moment when no spare child waits. Also for
  // connections, which the parent accepts, if there are no spare processes or none can be forked.
  void wait_for_events(base::Deadline deadline, bool with_connections) {
    pollfd events[] = {{signals_.get(), POLLIN, 0},
                       {child_tells_.get(), POLLIN, 0},
                       {with_connections ? acceptor_.fd() : -1, POLLIN, 0},
                       {options_.hangups, POLLIN, 0}};
    if (::poll(events, 4, deadline.left_ms()) <= 0) return;
    if (events[3].revents != 0 && base::take_hangup_signal(options_.hangups))
      static_cast<void>(base::completes("SIGHUP was passed over", options_.on_hangup));
    if (events[0].revents != 0) read_signals();
    if (events[1].revents != 0) {
      eventfd_t ignored = 0;
      ::eventfd_read(child_tells_.get(), &ignored);
      tell_those_that_give_way();
    }
    if (events[2].revents == 0 || must_stop_) return;
    if (options_.spare == 0) {
      accept_and_fork();
    } else if (events[0].revents == 0) {  // else there may be room for a child now
      accept_and_refuse();
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
    if (options_.spare == 0) --board_->serving;
    if (WIFEXITED(status) && WEXITSTATUS(status) == 0) return;
    base::log::error("a child died pid={} status={:#x}", pid, static_cast<unsigned>(status));
    if (options_.spare == 0) return;
    const ChildState state = states_[place];
    if (state == ChildState::kWaiting) --board_->waiting;
    if (state == ChildState::kServing) --board_->serving;
  }

  bool fork_spare() {
    ++board_->waiting;
    const bool is_forked = fork_child([this](std::size_t place) {
      accept_and_serve(
          acceptor_, options_, make_worker_,
          {place, *board_, states_[place], places_.all(), child_tells_.get(), busy_answer_});
    });
    if (!is_forked) --board_->waiting;
    return is_forked;
  }

  // A child that has just become free may be faster. Then the parent must not sleep in accept for
  // long. A child that gets the short time only looks at the clock more often.
  void accept_and_refuse() {
    net::set_io_timeout(acceptor_.fd(), kWaitMs);
    net::Accepted accepted = net::accept_from(acceptor_.fd());
    net::set_io_timeout(acceptor_.fd(), io_slice_ms(options_.idle_timeout_ms));
    if (accepted.verdict == net::AcceptVerdict::kAccepted)
      refuse(std::move(accepted.fd), busy_answer_);
  }

  void accept_and_fork() {
    net::Accepted accepted = net::accept_from(acceptor_.fd());
    if (accepted.verdict == net::AcceptVerdict::kOutOfResources) {
      warn_once("cannot accept", accepted.errno_value);
      base::pause_ms(kWaitMs);
    }
    if (accepted.verdict != net::AcceptVerdict::kAccepted) return;
    bool is_forked = false;
    if (acceptor_.has_room_for(accepted.fd) && has_place_for(accepted.peer)) {
      ++board_->serving;
      is_forked = fork_child([&](std::size_t place) {
        serve_and_end(
            {std::move(accepted.fd), accepted.peer}, options_, make_worker_,
            {place, *board_, states_[place], places_.all(), child_tells_.get(), busy_answer_});
      });
      if (!is_forked) --board_->serving;
    }
    if (!is_forked) refuse(std::move(accepted.fd), busy_answer_);
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
  bool fork_child(Life life) {
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
      become_child(acceptor_, *board_, parent);
      const bool is_done = base::completes("a child failed", [&] { life(place); });
      ::_exit(is_done ? 0 : 1);  // without destructors: the objects belong to the parent
    }
    has_warned_ = false;
    free_places_.pop_back();
    pids_[place] = pid;
    return true;
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
    acceptor_.stop();
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
  const MakeWorker make_worker_;
  std::string (*const busy_answer_)();
  Acceptor acceptor_;
  const std::size_t most_children_;
  const Shared<Scoreboard> board_;
  const SharedArray<std::atomic<ChildState>> states_;  // one for each possible child
  const SharedArray<Place> places_;                    // the same
  net::Fd signals_;
  net::Fd child_tells_;  // an eventfd: no child waits any more, or one gives way

  bool must_stop_ = false;
  bool has_warned_ = false;
  std::vector<pid_t> pids_;               // of the child at each place
  std::vector<std::size_t> free_places_;  // indices of states_ and pids_
};

}  // namespace

bool serve_with_processes(Front front, const Options& options) {
  return ProcessServer(std::move(front), options).run();
}

}  // namespace serve
