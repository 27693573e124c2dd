#include "telemetry/endpoint.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/eventfd.h>
#include <sys/socket.h>

#include <array>
#include <cerrno>
#include <ctime>
#include <list>
#include <system_error>
#include <utility>
#include <vector>

#include "base/completes.h"
#include "http/answer.h"
#include "http/date.h"
#include "http/request_head.h"
#include "net/socket_io.h"

namespace telemetry {

namespace {

constexpr std::int64_t kSendMs = 5'000;    // for the whole answer
constexpr std::int64_t kLingerMs = 1'000;  // until the client has closed its end too

net::Fd make_event() {
  net::Fd fd(::eventfd(0, EFD_CLOEXEC));
  if (!fd.is_open()) throw std::system_error(errno, std::generic_category(), "eventfd");
  return fd;
}

void make_non_blocking(int fd) { ::fcntl(fd, F_SETFL, ::fcntl(fd, F_GETFL) | O_NONBLOCK); }

std::string answer_text(http::Status status, std::string_view type, std::string_view body,
                        bool is_head) {
  std::array<char, 512> buffer;
  http::AnswerHead head(buffer, status);
  head.field("Date", http::date_text(std::time(nullptr)).view());
  if (status == 405) head.field("Allow", "GET, HEAD");
  head.field("Content-Type", type).field("Content-Length", body.size());
  head.field("Cache-Control", "no-store").field("Connection", "close");
  std::string text(head.finish());
  if (!is_head) text += body;
  return text;
}

std::string plain_answer(http::Status status, bool is_head) {
  return answer_text(status, "text/plain; charset=utf-8", std::string(status.reason()) + "\n",
                     is_head);
}

}  // namespace

// The state of run(): one thread.
class Endpoint::Loop {
 public:
  explicit Loop(Endpoint& endpoint) : endpoint_(endpoint) {}

  void run() {
    while (!endpoint_.is_stopped_) {
      wait();
      for (auto peer = peers_.begin(); peer != peers_.end();) {
        const auto one = peer++;
        if (!goes_on(*one)) peers_.erase(one);
      }
    }
  }

 private:
  enum class Step { kReading, kWaiting, kSending, kLingering };

  // One connection.
  struct Peer {
    net::Fd fd;
    base::Deadline deadline;
    Step step = Step::kReading;
    http::HeadParser parser = {};
    std::string bytes = {};  // received, or left to send
    bool is_head = false;
    bool wants_metrics = false;
  };

  // Waits for an event or a deadline. A peer that has nothing to receive or send yet is harmless:
  // its next call fails with EAGAIN.
  void wait() {
    std::vector<pollfd> events{{endpoint_.stopped_.get(), POLLIN, 0},
                               {endpoint_.answer_.get(), POLLIN, 0},
                               {endpoint_.listener_.fd.get(), POLLIN, 0},
                               {endpoint_.taken_.get(), POLLIN, 0}};
    int wait_ms = -1;
    for (const Peer& peer : peers_) {
      const int left_ms = peer.deadline.left_ms();
      wait_ms = wait_ms < 0 ? left_ms : std::min(wait_ms, left_ms);
      if (peer.step != Step::kWaiting) events.push_back({peer.fd.get(), events_of(peer.step), 0});
    }
    if (::poll(events.data(), events.size(), wait_ms) <= 0) return;
    if (events[1].revents != 0) take_answer();
    if (events[2].revents != 0) accept_one();
    if (events[3].revents != 0) take_over();
  }

  static short events_of(Step step) { return step == Step::kSending ? POLLOUT : POLLIN; }

  void accept_one() {
    net::Accepted accepted = net::accept_from(endpoint_.listener_.fd.get());
    if (accepted.verdict == net::AcceptVerdict::kOutOfResources) {
      constexpr int kPauseMs = 100;
      base::pause_ms(kPauseMs);
    }
    if (accepted.verdict == net::AcceptVerdict::kAccepted) begin(std::move(accepted.fd));
  }

  void take_over() {
    eventfd_t ignored = 0;
    ::eventfd_read(endpoint_.taken_.get(), &ignored);
    std::vector<net::Fd> fds;
    {
      const base::Lock lock(endpoint_.mutex_);
      fds.swap(endpoint_.handed_over_);
    }
    for (net::Fd& fd : fds) begin(std::move(fd));
  }

  void begin(net::Fd fd) {
    make_non_blocking(fd.get());
    if (peers_.size() == kMostConnections) {
      if (Peer& oldest = peers_.front(); oldest.step == Step::kReading && has_other_answer()) {
        answer(oldest, endpoint_.source_.answer_others());
        send(oldest);
      }
      peers_.pop_front();
    }
    peers_.push_back({std::move(fd), base::Deadline::in_ms(endpoint_.source_.read_ms)});
  }

  bool has_other_answer() const { return endpoint_.source_.answer_others != nullptr; }

  // Takes the next step that is possible. False when the connection is to be closed.
  bool goes_on(Peer& peer) {
    if (peer.step == Step::kReading && !receive(peer)) return false;
    if (peer.step == Step::kReading && peer.deadline.has_passed() && has_other_answer())
      answer(peer, endpoint_.source_.answer_others());
    if (peer.step == Step::kWaiting && peer.deadline.has_passed()) answer_health(peer, false);
    if (peer.step == Step::kSending && !send(peer)) return false;
    if (peer.step == Step::kLingering && !linger(peer)) return false;
    return peer.step == Step::kWaiting || !peer.deadline.has_passed();
  }

  bool receive(Peer& peer) {
    std::array<char, 2048> part;
    const ssize_t got = net::receive_now(peer.fd.get(), part);
    if (got < 0) return errno == EAGAIN;
    if (got == 0) return false;
    peer.bytes.append(part.data(), static_cast<std::size_t>(got));
    switch (peer.parser.parse(peer.bytes)) {
      case http::HeadParser::State::kNeedMore: break;
      case http::HeadParser::State::kComplete: decide(peer, peer.parser.head()); break;
      case http::HeadParser::State::kRefused:
        answer(peer, has_other_answer() ? endpoint_.source_.answer_others()
                                        : plain_answer(peer.parser.status(), false));
        break;
    }
    return true;
  }

  void decide(Peer& peer, const http::RequestHead& head) {
    const Source& source = endpoint_.source_;
    peer.is_head = head.method() == http::Method::kHead;
    peer.wants_metrics = head.path() == source.metrics_path;
    const bool wants_life = head.path() == source.life_path;
    const bool wants_health = head.path() == source.health_path;
    const bool is_known = peer.wants_metrics || wants_life || wants_health;
    const bool reads = peer.is_head || head.method() == http::Method::kGet;
    if (has_other_answer() && !(is_known && reads)) {
      answer(peer, source.answer_others());
    } else if (!reads) {
      answer(peer, plain_answer(405, false));
    } else if (wants_life) {
      answer(peer, plain_answer(200, peer.is_head));
    } else if (is_known) {
      peer.step = Step::kWaiting;
      peer.deadline = base::Deadline::in_ms(kHealthMs);
      if (!std::exchange(is_asked_, true)) ::eventfd_write(endpoint_.wanted_.get(), 1);
    } else {
      answer(peer, plain_answer(404, peer.is_head));
    }
  }

  void take_answer() {
    eventfd_t ignored = 0;
    ::eventfd_read(endpoint_.answer_.get(), &ignored);
    is_asked_ = false;
    for (Peer& peer : peers_) {
      if (peer.step == Step::kWaiting) answer_health(peer, endpoint_.is_healthy_);
    }
  }

  void answer_health(Peer& peer, bool is_healthy) {
    if (peer.wants_metrics) {
      answer(peer, answer_text(200, "text/plain; version=0.0.4; charset=utf-8",
                               endpoint_.source_.metrics(is_healthy), peer.is_head));
    } else {
      const bool is_ready = is_healthy && !endpoint_.source_.is_draining();
      answer(peer, plain_answer(is_ready ? http::Status(200) : http::Status(503), peer.is_head));
    }
  }

  static void answer(Peer& peer, std::string text) {
    peer.bytes = std::move(text);
    peer.step = Step::kSending;
    peer.deadline = base::Deadline::in_ms(kSendMs);
  }

  static bool send(Peer& peer) {
    iovec part{peer.bytes.data(), peer.bytes.size()};
    const ssize_t sent = net::send_parts(peer.fd.get(), {&part, 1});
    if (sent < 0) return errno == EAGAIN;
    peer.bytes.erase(0, static_cast<std::size_t>(sent));
    if (!peer.bytes.empty()) return true;
    ::shutdown(peer.fd.get(), SHUT_WR);
    peer.step = Step::kLingering;
    peer.deadline = base::Deadline::in_ms(kLingerMs);
    return true;
  }

  // Discards what still comes. Closing a socket with unread bytes would reset the connection, and
  // the answer could be lost.
  static bool linger(Peer& peer) {
    std::array<char, 2048> discarded;
    const ssize_t got = net::receive_now(peer.fd.get(), discarded);
    return got > 0 || (got < 0 && errno == EAGAIN);
  }

  Endpoint& endpoint_;
  bool is_asked_ = false;  // is_healthy() is under way, or about to be
  std::list<Peer> peers_;  // the oldest first
};

base::Result<net::Listener> bind_for_telemetry(const net::HostPort& address) {
  auto listener = net::bind_to(address, 0);
  if (listener) make_non_blocking(listener->fd.get());
  return listener;
}

Endpoint::Endpoint(net::Listener listener, Source source)
    : listener_(std::move(listener)),
      source_(std::move(source)),
      wanted_(make_event()),
      answer_(make_event()),
      stopped_(make_event()),
      taken_(make_event()),
      asker_([this] { ask_when_wanted(); }) {}

Endpoint::~Endpoint() {
  stop();
  asker_.join();
}

void Endpoint::run() {
  while (!is_stopped_) {
    if (base::completes("telemetry failed", [this] { Loop(*this).run(); })) continue;
    constexpr int kPauseMs = 1000;  // all connections are closed
    base::pause_ms(kPauseMs);
  }
}

void Endpoint::stop() {
  is_stopped_ = true;
  ::eventfd_write(stopped_.get(), 1);
  ::eventfd_write(wanted_.get(), 1);
}

bool Endpoint::take(net::Fd& fd) {
  const base::Lock lock(mutex_);
  handed_over_.push_back(std::move(fd));
  ::eventfd_write(taken_.get(), 1);
  if (handed_over_.size() <= kMostConnections) return true;
  fd = std::move(handed_over_.front());
  handed_over_.erase(handed_over_.begin());
  return false;
}

void Endpoint::ask_when_wanted() {
  for (;;) {
    eventfd_t ignored = 0;
    ::eventfd_read(wanted_.get(), &ignored);
    if (is_stopped_) return;
    const bool is_known =
        base::completes("cannot tell the health", [this] { is_healthy_ = source_.is_healthy(); });
    if (!is_known) is_healthy_ = false;
    ::eventfd_write(answer_.get(), 1);
  }
}

}  // namespace telemetry
