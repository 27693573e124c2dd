// A link with a delay, between two network namespaces of this machine.
//
//   delay_line NAMESPACE NAME NAMESPACE NAME DELAY_MS QUEUE_BYTES LINES RATE [AT_S:RATE ...]
//
// It makes a TUN device called NAME in each NAMESPACE, which is a file such as /proc/PID/ns/net,
// and carries packets between the two. Who starts it gives the devices addresses and sets them up.
// DELAY_MS is that of one direction. RATE is in bits a second, that of each of the LINES; from AT_S
// on it is another one. QUEUE_BYTES may wait for a line in each direction; what is more is dropped.
//
// It prints "ready". For each empty line of its input it prints one of JSON: what happened since
// the last one, in the direction from the first namespace ("there") and in the other ("back"). A
// line with a number sticks a TCP connection for so many seconds: the next one that sends data over
// the link. It ends with its input.
#include <fmt/core.h>
#include <poll.h>
#include <sys/prctl.h>
#include <sys/timerfd.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <charconv>
#include <cmath>
#include <cstdio>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "lab/delay_line/stall.h"
#include "lab/delay_line/tunnel.h"
#include "lab/delay_line/way.h"

namespace {

using delay_line::Rate;
using delay_line::Shape;
using delay_line::Stall;
using delay_line::Told;
using delay_line::Way;

constexpr int kWrongUsage = 2;
constexpr int kFirstRate = 8;  // of the arguments
constexpr double kTypicalShare = 0.5;
constexpr double kHighShare = 0.99;

std::optional<double> number(std::string_view text) {
  double value = 0;
  const auto [end, error] = std::from_chars(text.data(), text.data() + text.size(), value);
  const bool is_whole = error == std::errc{} && end == text.data() + text.size();
  if (!is_whole || !std::isfinite(value) || value < 0) return std::nullopt;
  return value;
}

// "RATE", or "AT_S:RATE" after the first one.
std::optional<Rate> rate(std::string_view text, bool is_first) {
  const std::size_t colon = text.find(':');
  if ((colon == std::string_view::npos) != is_first) return std::nullopt;
  const auto from_s = is_first ? std::optional(0.0) : number(text.substr(0, colon));
  const auto bits = number(is_first ? text : text.substr(colon + 1));
  if (!from_s || !bits || *bits < 1) return std::nullopt;
  return Rate{std::llround(*from_s * static_cast<double>(base::kNsPerS)), *bits};
}

std::optional<Shape> shape(int argc, char** argv) {
  const auto delay_ms = number(argv[5]);
  const auto queue_bytes = number(argv[6]);
  const auto lines = number(argv[7]);
  if (!delay_ms || !queue_bytes || !lines || *lines < 1) return std::nullopt;
  Shape found;
  found.delay_ns = std::llround(*delay_ms * static_cast<double>(base::kNsPerMs));
  found.queue_bytes = static_cast<std::size_t>(*queue_bytes);
  found.lines = static_cast<int>(*lines);
  for (int at = kFirstRate; at < argc; ++at) {
    const auto one = rate(argv[at], at == kFirstRate);
    if (!one || (!found.rates.empty() && one->from_ns <= found.rates.back().from_ns)) {
      return std::nullopt;
    }
    found.rates.push_back(*one);
  }
  return found;
}

double milliseconds(std::int64_t ns) {
  return static_cast<double>(ns) / static_cast<double>(base::kNsPerMs);
}

std::string json(const Told& told) {
  const auto& late = told.lateness;
  return fmt::format(R"({{"packets":{},"bytes":{},"dropped":{},"stuck":{},"refused":{},)"
                     R"("late_p50_ms":{:.3f},"late_p99_ms":{:.3f},"late_max_ms":{:.3f}}})",
                     told.packets, told.bytes, told.dropped, told.stuck, told.refused,
                     milliseconds(late.at_share_ns(kTypicalShare)),
                     milliseconds(late.at_share_ns(kHighShare)), milliseconds(late.max_ns()));
}

// Both directions, until the input ends.
class Link {
 public:
  Link(int first, int second, const Shape& shape)
      : first_(first),
        second_(second),
        there_(first, second, shape, stall_),
        back_(second, first, shape, stall_) {}

  // Returns the exit status.
  int run() {
    timer_ = net::Fd(::timerfd_create(CLOCK_MONOTONIC, TFD_NONBLOCK | TFD_CLOEXEC));
    if (!timer_.is_open()) return 1;
    fmt::print("ready\n");
    std::fflush(stdout);
    while (true) {
      set_timer();
      std::array<pollfd, 4> waiting{{{first_, POLLIN, 0},
                                     {second_, POLLIN, 0},
                                     {timer_.get(), POLLIN, 0},
                                     {STDIN_FILENO, POLLIN, 0}}};
      ::poll(waiting.data(), waiting.size(), -1);
      if (waiting[0].revents != 0 && !there_.take(now_ns())) return 1;
      if (waiting[1].revents != 0 && !back_.take(now_ns())) return 1;
      there_.give(now_ns());
      back_.give(now_ns());
      if (waiting[3].revents != 0 && !answer()) return 0;
    }
  }

 private:
  std::int64_t now_ns() const { return base::now_ns() - start_ns_; }

  // To the next packet that is due; without one it does not ring.
  void set_timer() const {
    const auto there = there_.next_due_ns(), back = back_.next_due_ns();
    itimerspec when{};
    if (there || back) {
      const std::int64_t at_ns = start_ns_ + std::min(there.value_or(INT64_MAX - start_ns_),
                                                      back.value_or(INT64_MAX - start_ns_));
      when.it_value = {at_ns / base::kNsPerS, at_ns % base::kNsPerS};
    }
    ::timerfd_settime(timer_.get(), TFD_TIMER_ABSTIME, &when, nullptr);
  }

  // False: the input has ended. A line may come in pieces.
  bool answer() {
    std::array<char, 64> piece;
    const ssize_t got = ::read(STDIN_FILENO, piece.data(), piece.size());
    if (got <= 0) return false;
    input_.append(piece.data(), static_cast<std::size_t>(got));
    for (std::size_t end = 0; (end = input_.find('\n')) != std::string::npos;) {
      carry_out(input_.substr(0, end));
      input_.erase(0, end + 1);
    }
    std::fflush(stdout);
    return true;
  }

  void carry_out(std::string_view line) {
    if (line.empty()) {
      fmt::print("{{\"there\":{},\"back\":{}}}\n", json(there_.tell()), json(back_.tell()));
    } else if (const auto seconds = number(line)) {
      stall_.begin(std::llround(*seconds * static_cast<double>(base::kNsPerS)));
    }
  }

  int first_;
  int second_;
  Stall stall_;
  Way there_;
  Way back_;
  net::Fd timer_;
  std::string input_;
  std::int64_t start_ns_ = base::now_ns();
};

}  // namespace

int main(int argc, char** argv) {
  const auto wanted = argc > kFirstRate ? shape(argc, argv) : std::nullopt;
  if (!wanted) {
    fmt::print(stderr,
               "delay_line: wanted NAMESPACE NAME NAMESPACE NAME DELAY_MS QUEUE_BYTES LINES RATE "
               "[AT_S:RATE ...]\n");
    return kWrongUsage;
  }
  ::prctl(PR_SET_TIMERSLACK, 1UL, 0UL, 0UL, 0UL);
  std::vector<net::Fd> devices;
  for (int at = 1; at < 5; at += 2) {
    auto device = delay_line::open_tunnel(argv[at], argv[at + 1]);
    if (!device) {
      fmt::print(stderr, "delay_line: {}\n", device.error().context);
      return 1;
    }
    devices.push_back(std::move(*device));
  }
  return Link(devices[0].get(), devices[1].get(), *wanted).run();
}
