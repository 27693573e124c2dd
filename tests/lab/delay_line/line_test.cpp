// The link's line: rate, delay, queue, several lines in turn, and rates that change.
#include "lab/delay_line/line.h"

#include <random>

#include "base/clock.h"
#include "tests/catch.h"

namespace {

using base::kNsPerMs;
using base::kNsPerS;
using delay_line::Line;
using delay_line::Packet;
using delay_line::Rate;
using delay_line::Shape;

constexpr double kBitsPerMs = 8'000'000;  // so that 1,000 bytes take a millisecond
constexpr std::size_t kPlenty = 1 << 30;

Packet packet(std::size_t bytes, int mark = 0) { return Packet(bytes, std::byte(mark)); }

Shape shape(double bits_per_s = kBitsPerMs, std::size_t queue_bytes = kPlenty) {
  return {.rates = {{0, bits_per_s}}, .delay_ns = 30 * kNsPerMs, .queue_bytes = queue_bytes};
}

// When each packet is out, in the order in which they come.
std::vector<std::int64_t> outs(Line& line) {
  std::vector<std::int64_t> found;
  while (const auto due_ns = line.next_due_ns()) {
    const auto out = line.give(*due_ns);
    REQUIRE(out);
    REQUIRE(out->due_ns == *due_ns);
    found.push_back(*due_ns);
  }
  return found;
}

TEST_CASE("a packet is out after its bits and the delay", "[delay_line]") {
  Line line(shape());
  REQUIRE(line.take(packet(2'000), 5 * kNsPerMs));
  CHECK(line.next_due_ns() == 37 * kNsPerMs);
  CHECK_FALSE(line.give(37 * kNsPerMs - 1));
  CHECK(line.give(37 * kNsPerMs)->packet.size() == 2'000);
  CHECK_FALSE(line.next_due_ns());
  CHECK_FALSE(line.give(INT64_MAX));
}

TEST_CASE("packets wait for the one before them", "[delay_line]") {
  Line line(shape());
  for (int i = 0; i < 3; ++i) REQUIRE(line.take(packet(1'000), 0));
  CHECK(outs(line) == std::vector<std::int64_t>{31 * kNsPerMs, 32 * kNsPerMs, 33 * kNsPerMs});
}

TEST_CASE("a line that was idle has saved nothing up", "[delay_line]") {
  Line line(shape());
  REQUIRE(line.take(packet(1'000), 0));
  for (int i = 0; i < 2; ++i) REQUIRE(line.take(packet(1'000), 100 * kNsPerMs));
  CHECK(outs(line) == std::vector<std::int64_t>{31 * kNsPerMs, 131 * kNsPerMs, 132 * kNsPerMs});
}

TEST_CASE("what the queue has no room for is dropped", "[delay_line]") {
  Line line(shape(kBitsPerMs, 2'500));
  CHECK(line.take(packet(1'000), 0));  // is being sent, and waits for nothing
  CHECK(line.take(packet(1'000), 0));
  CHECK(line.take(packet(1'000), 0));
  CHECK_FALSE(line.take(packet(1'000), 0));
  CHECK(line.take(packet(500), 0));
  CHECK_FALSE(line.take(packet(1), 1 * kNsPerMs - 1));
  CHECK(line.take(packet(1'000), 1 * kNsPerMs));  // the second one is being sent
  CHECK(outs(line).size() == 5);
}

TEST_CASE("without a queue a line takes one packet at a time", "[delay_line]") {
  Line line(shape(kBitsPerMs, 0));
  CHECK(line.take(packet(1'000), 0));
  CHECK_FALSE(line.take(packet(1), 1));
  CHECK(line.take(packet(1'000), 1 * kNsPerMs));
}

TEST_CASE("several lines are used in turn, and a short packet overtakes", "[delay_line]") {
  Shape two = shape();
  two.lines = 2;
  Line line(two);
  REQUIRE(line.take(packet(2'000, 1), 0));
  REQUIRE(line.take(packet(1'000, 2), 0));
  REQUIRE(line.take(packet(1'000, 3), 0));  // on the first line again, after 2 ms
  std::vector<int> marks;
  while (const auto due_ns = line.next_due_ns()) {
    marks.push_back(std::to_integer<int>(line.give(*due_ns)->packet.front()));
  }
  CHECK(marks == std::vector<int>{2, 1, 3});
}

TEST_CASE("packets that are due at once keep their order", "[delay_line]") {
  Shape many = shape();
  many.lines = 4;
  Line line(many);
  for (int mark = 0; mark < 4; ++mark) REQUIRE(line.take(packet(1'000, mark), 0));
  for (int mark = 0; mark < 4; ++mark) {
    CHECK(line.give(31 * kNsPerMs)->packet.front() == std::byte(mark));
  }
}

TEST_CASE("a rate holds for what begins after its moment", "[delay_line]") {
  Shape changing = shape();
  changing.rates.push_back({10 * kNsPerMs, kBitsPerMs / 2});
  changing.rates.push_back({20 * kNsPerMs, 2 * kBitsPerMs});
  Line line(changing);
  for (const std::int64_t at_ms : {9, 10, 19, 20}) {
    REQUIRE(line.take(packet(1'000), at_ms * kNsPerMs));
  }
  CHECK(outs(line) == std::vector<std::int64_t>{40 * kNsPerMs, 42 * kNsPerMs, 51 * kNsPerMs,
                                                51 * kNsPerMs + kNsPerMs / 2});
}

// Whatever comes: nothing is out before its delay, no more bits are carried than the rate lets
// through, and each packet that was taken comes out once.
TEST_CASE("random packets keep to rate, delay and queue", "[delay_line]") {
  const auto seed = GENERATE(range(0U, 50U));
  std::mt19937 random(seed);
  const auto upto = [&](int most) { return std::uniform_int_distribution<>(0, most)(random); };
  Shape chosen = shape(kBitsPerMs, static_cast<std::size_t>(upto(20'000)));
  chosen.lines = 1 + upto(3);
  Line line(chosen);
  std::size_t taken = 0, given = 0, bytes = 0;
  std::int64_t now_ns = 0;
  for (int step = 0; step < 500; ++step) {
    now_ns += upto(kNsPerMs);
    const auto size = static_cast<std::size_t>(1 + upto(1'499));
    const bool is_taken = line.take(packet(size), now_ns);
    taken += is_taken ? 1 : 0;
    while (const auto out = line.give(now_ns)) {
      ++given;
      bytes += out->packet.size();
      REQUIRE(out->due_ns <= now_ns);
    }
    const double sent_s = static_cast<double>(now_ns - chosen.delay_ns) / kNsPerS;
    const double most = std::max(0.0, sent_s) * kBitsPerMs * chosen.lines / 8;
    REQUIRE(static_cast<double>(bytes) <= most + 1);
  }
  given += outs(line).size();
  CHECK(given == taken);
}

}  // namespace
