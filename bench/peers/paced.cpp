// An open loop: requests at a fixed rate, each on a new connection, whatever the server speaks.
// With a RATE of 0 it is a closed loop: each thread sends its next request when it has the reply.
//
//   paced PORT RATE SECONDS THREADS REPLY_BYTES < REQUESTS
//
// REQUESTS are separated by zero bytes and sent in turn. A reply is complete after REPLY_BYTES. The
// response time counts from the moment at which the request was due, so a stall of the server or of
// this program is in the time of every request that it delayed. The result is one line of JSON.
#include <algorithm>
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

void request_at(const Plan& plan, Clock::time_point due, std::size_t number, Times& times) {
  const bool is_whole = exchange(plan, plan.requests[number % plan.requests.size()]);
  const std::chrono::duration<double, std::milli> took = Clock::now() - due;
  times.milliseconds.push_back(took.count());
  times.failed += is_whole ? 0 : 1;
}

Times run_closed(const Plan& plan, Numbers numbers, Clock::time_point start) {
  Times times;
  const std::chrono::duration<double> length(plan.seconds);
  std::this_thread::sleep_until(start);
  for (; Clock::now() - start < length; numbers.next += numbers.step)
    request_at(plan, Clock::now(), numbers.next, times);
  return times;
}

Times run_open(const Plan& plan, Numbers numbers, Clock::time_point start) {
  Times times;
  const auto total = static_cast<std::size_t>(plan.rate * plan.seconds);
  for (; numbers.next < total; numbers.next += numbers.step) {
    const std::chrono::duration<double> offset(static_cast<double>(numbers.next) / plan.rate);
    const auto due = start + std::chrono::duration_cast<Clock::duration>(offset);
    std::this_thread::sleep_until(due);
    request_at(plan, due, numbers.next, times);
  }
  return times;
}

Times run_thread(const Plan& plan, int thread, Clock::time_point start) {
  const Numbers numbers{static_cast<std::size_t>(thread), static_cast<std::size_t>(plan.threads)};
  return plan.rate == 0 ? run_closed(plan, numbers, start) : run_open(plan, numbers, start);
}

Times run(const Plan& plan) {
  std::vector<Times> parts(static_cast<std::size_t>(plan.threads));
  std::vector<std::thread> threads;
  threads.reserve(parts.size());
  const auto start = Clock::now() + std::chrono::milliseconds(100);
  for (int t = 0; t < plan.threads; ++t) {
    threads.emplace_back(
        [&, t] { parts[static_cast<std::size_t>(t)] = run_thread(plan, t, start); });
  }
  Times all;
  for (std::size_t t = 0; t < threads.size(); ++t) {
    threads[t].join();
    const Times& part = parts[t];
    all.milliseconds.insert(all.milliseconds.end(), part.milliseconds.begin(),
                            part.milliseconds.end());
    all.failed += part.failed;
  }
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
