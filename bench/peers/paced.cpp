// An open loop: requests at a fixed rate, each on a new connection, whatever the server speaks.
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
  char buffer[16384];
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
Times run_thread(const Plan& plan, int thread, Clock::time_point start) {
  Times times;
  const auto total = static_cast<std::size_t>(plan.rate * plan.seconds);
  const auto step = static_cast<std::size_t>(plan.threads);
  for (auto i = static_cast<std::size_t>(thread); i < total; i += step) {
    const std::chrono::duration<double> offset(static_cast<double>(i) / plan.rate);
    const auto due = start + std::chrono::duration_cast<Clock::duration>(offset);
    std::this_thread::sleep_until(due);
    const bool is_whole = exchange(plan, plan.requests[i % plan.requests.size()]);
    const std::chrono::duration<double, std::milli> took = Clock::now() - due;
    times.milliseconds.push_back(took.count());
    times.failed += is_whole ? 0 : 1;
  }
  return times;
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
