// An open loop: requests at a fixed rate, each on a new connection, whatever the server speaks.
// With a RATE of 0 it is a closed loop of THREADS: each sends its next request when it has the
// reply.
//
//   paced PORT RATE SECONDS THREADS REPLY_BYTES < REQUESTS
//
// REQUESTS are separated by zero bytes and sent in turn. A reply is complete after REPLY_BYTES. The
// response time counts from the moment at which the request was due, so a stall of the server or of
// this program is in the time of every request that it delayed. The result is one line of JSON.
#include <sys/epoll.h>

#include <algorithm>
#include <cerrno>
#include <chrono>
#include <iostream>
#include <iterator>

#include "sockets.h"

namespace {

using Clock = std::chrono::steady_clock;

struct Plan {
  std::uint16_t port;
  double rate;
  double seconds;
  int threads;
  std::size_t reply_bytes;
  std::vector<std::string> requests;
};

struct Times {
  std::vector<double> milliseconds;
  std::uint64_t failed = 0;
};

std::vector<std::string> read_requests() {
  const std::string text{std::istreambuf_iterator<char>(std::cin), {}};
  std::vector<std::string> requests;
  for (std::size_t at = 0; at < text.size(); at = text.find('\0', at) + 1) {
    requests.push_back(text.substr(at, text.find('\0', at) - at));
  }
  return requests;
}

bool exchange(const Plan& plan, const std::string& request) {
  const int fd = peers::connect_to(plan.port);
  char buffer[65536];
  std::size_t left = plan.reply_bytes;
  bool is_whole = peers::send_all(fd, request);
  while (is_whole && left > 0) {
    const ssize_t got = ::recv(fd, buffer, std::min(left, sizeof buffer), 0);
    is_whole = got > 0;
    left -= is_whole ? static_cast<std::size_t>(got) : 0;
  }
  ::close(fd);
  return is_whole;
}

// Thread t of n has the requests t, t+n, t+2n and so on.
struct Numbers {
  std::size_t next;
  std::size_t step;
};

void note(Times& times, Clock::time_point due, bool is_whole) {
  const std::chrono::duration<double, std::milli> took = Clock::now() - due;
  times.milliseconds.push_back(took.count());
  times.failed += is_whole ? 0 : 1;
}

Times run_thread(const Plan& plan, Numbers numbers, Clock::time_point start) {
  Times times;
  const std::chrono::duration<double> length(plan.seconds);
  std::this_thread::sleep_until(start);
  for (; Clock::now() - start < length; numbers.next += numbers.step) {
    const auto began = Clock::now();
    note(times, began, exchange(plan, plan.requests[numbers.next % plan.requests.size()]));
  }
  return times;
}

// One thread has all requests under way, so that the meter takes little of the CPU that the server
// needs. A connection on this host is made within connect(), without waiting.
class OpenLoop {
 public:
  OpenLoop(const Plan& plan, Clock::time_point start)
      : plan_(plan),
        start_(start),
        total_(static_cast<std::size_t>(plan.rate * plan.seconds)),
        epoll_(::epoll_create1(EPOLL_CLOEXEC)) {
    if (epoll_ < 0) peers::fail("epoll_create1");
  }
  ~OpenLoop() { ::close(epoll_); }
  OpenLoop(const OpenLoop&) = delete;
  OpenLoop& operator=(const OpenLoop&) = delete;

  Times run() {
    while (next_ < total_ || under_way_ > 0) {
      for (; next_ < total_ && due(next_) <= Clock::now(); ++next_) begin(next_);
      wait();
    }
    return std::move(times_);
  }

 private:
  struct Exchange {
    Clock::time_point due;
    std::size_t left;
  };

  Clock::time_point due(std::size_t number) const {
    const std::chrono::duration<double> offset(static_cast<double>(number) / plan_.rate);
    return start_ + std::chrono::duration_cast<Clock::duration>(offset);
  }

  void begin(std::size_t number) {
    const int fd = peers::connect_to(plan_.port);
    if (exchanges_.size() <= static_cast<std::size_t>(fd))
      exchanges_.resize(static_cast<std::size_t>(fd) + 1);
    exchanges_[static_cast<std::size_t>(fd)] = {due(number), plan_.reply_bytes};
    ++under_way_;
    epoll_event event{.events = EPOLLIN, .data = {.fd = fd}};
    if (::epoll_ctl(epoll_, EPOLL_CTL_ADD, fd, &event) != 0) peers::fail("epoll_ctl");
    if (!peers::send_all(fd, plan_.requests[number % plan_.requests.size()])) end(fd, false);
  }

  // Until a reply comes or the next request is due.
  void wait() {
    epoll_event events[64];
    timespec at_most{1, 0};
    if (next_ < total_) {
      const std::chrono::nanoseconds left = due(next_) - Clock::now();
      at_most = {0, std::clamp<long>(left.count(), 0, 999'999'999)};
    }
    const int count = ::epoll_pwait2(epoll_, events, 64, &at_most, nullptr);
    for (int i = 0; i < count; ++i) receive(events[i].data.fd);
  }

  void receive(int fd) {
    char buffer[65536];
    std::size_t& left = exchanges_[static_cast<std::size_t>(fd)].left;
    const ssize_t got = ::recv(fd, buffer, std::min(left, sizeof buffer), MSG_DONTWAIT);
    if (got < 0 && errno == EAGAIN) return;
    left -= got > 0 ? static_cast<std::size_t>(got) : 0;
    if (got <= 0 || left == 0) end(fd, left == 0);
  }

  void end(int fd, bool is_whole) {
    note(times_, exchanges_[static_cast<std::size_t>(fd)].due, is_whole);
    --under_way_;
    ::close(fd);
  }

  const Plan& plan_;
  const Clock::time_point start_;
  const std::size_t total_;
  const int epoll_;
  std::size_t next_ = 0;
  std::size_t under_way_ = 0;
  std::vector<Exchange> exchanges_;  // by descriptor
  Times times_;
};

Times run_closed(const Plan& plan, Clock::time_point start) {
  std::vector<Times> parts(static_cast<std::size_t>(plan.threads));
  std::vector<std::thread> threads;
  threads.reserve(parts.size());
  for (std::size_t t = 0; t < parts.size(); ++t)
    threads.emplace_back([&, t] { parts[t] = run_thread(plan, {t, parts.size()}, start); });
  Times all;
  for (std::size_t t = 0; t < parts.size(); ++t) {
    threads[t].join();
    const Times& part = parts[t];
    all.milliseconds.insert(all.milliseconds.end(), part.milliseconds.begin(),
                            part.milliseconds.end());
    all.failed += part.failed;
  }
  return all;
}

Times run(const Plan& plan) {
  const auto start = Clock::now() + std::chrono::milliseconds(100);
  Times all = plan.rate == 0 ? run_closed(plan, start) : OpenLoop(plan, start).run();
  std::sort(all.milliseconds.begin(), all.milliseconds.end());
  return all;
}

double percentile(const Times& times, double part) {
  const auto last = times.milliseconds.size() - 1;
  return times.milliseconds[static_cast<std::size_t>(part * static_cast<double>(last))];
}

}  // namespace

int main(int count, char** words) {
  if (count != 6) {
    std::fputs("usage: paced PORT RATE SECONDS THREADS REPLY_BYTES < REQUESTS\n", stderr);
    return 2;
  }
  const Plan plan{peers::port_of(words[1]),
                  std::atof(words[2]),
                  std::atof(words[3]),
                  std::atoi(words[4]),
                  std::strtoul(words[5], nullptr, 10),
                  read_requests()};
  const Times times = run(plan);
  if (times.milliseconds.empty() || plan.requests.empty()) {
    std::fputs("paced: no request was due, or there is none to send\n", stderr);
    return 1;
  }
  std::printf("{\"requests\": %zu, \"failed\": %llu, \"p50_ms\": %.4f, \"p99_ms\": %.4f}\n",
              times.milliseconds.size(), static_cast<unsigned long long>(times.failed),
              percentile(times, 0.5), percentile(times, 0.99));
}
