// Parts of a file in any order, a bounded memory, and a stream without gaps.
#include "loadgen/clients/channels/reorder_pool.h"

#include <algorithm>
#include <random>
#include <vector>

#include "tests/catch.h"

using loadgen::FilePart;
using loadgen::ReorderPool;
using LastBuffer = ReorderPool::LastBuffer;

namespace {

std::byte placed_byte(std::uint64_t offset) { return std::byte((offset * 7 + offset / 251) % 256); }

// A connection that brings a part.
struct PoolChannel {
  FilePart part;
  bool is_stuck = false;
};

// Brings at most so many bytes of its part. False: there was no buffer.
bool bring(ReorderPool& pool, const FilePart& part, std::size_t most) {
  const auto room = pool.room(part);
  const std::size_t count = std::min(most, room.size());
  const std::uint64_t from = part.offset + pool.come(part);
  for (std::size_t i = 0; i < count; ++i) room[i] = placed_byte(from + i);
  if (count > 0) pool.filled(part, count);
  return count > 0;
}

// Lets out all that can be, and checks each byte.
void let_out(ReorderPool& pool) {
  while (!pool.next().empty()) {
    const auto next = pool.next();
    for (std::size_t i = 0; i < next.size(); ++i) REQUIRE(next[i] == placed_byte(pool.end() + i));
    pool.let_out(next.size());
  }
}

bool is_whole(const ReorderPool& pool, const FilePart& part) {
  return pool.end() >= part.offset + part.bytes || pool.come(part) == part.bytes;
}

// A file by several channels, of which each step moves one. The one that has the part whose turn it
// is moves last, as if it were the slowest. Returns whether the file came.
bool comes_with_a_slow_channel(LastBuffer last) {
  ReorderPool pool({.size = 1'000}, 100, 4, last);
  std::vector<FilePart> channels;
  while (channels.size() < 6) channels.push_back(*pool.take());
  for (int idle = 0; idle < 2 && !pool.is_over();) {
    bool has_moved = false;
    for (auto one = channels.rbegin(); one != channels.rend(); ++one) {
      if (is_whole(pool, *one)) {
        if (const auto next = pool.take()) *one = *next;
        continue;
      }
      has_moved = bring(pool, *one, 100) || has_moved;
    }
    const auto before = pool.end();
    let_out(pool);
    idle = has_moved || pool.end() > before ? 0 : idle + 1;
  }
  return pool.is_over();
}

}  // namespace

TEST_CASE("parts are given out in order, and the last one is what is left", "[channels]") {
  ReorderPool pool({.size = 250}, 100, 4);
  CHECK(pool.take() == FilePart{0, 0, 100});
  CHECK(pool.take() == FilePart{1, 100, 100});
  CHECK(pool.take() == FilePart{2, 200, 50});
  CHECK_FALSE(pool.take());
}

TEST_CASE("a file may begin in the middle, and may be empty", "[channels]") {
  ReorderPool middle({.from = 130, .size = 250}, 100, 4);
  CHECK(middle.take() == FilePart{0, 130, 100});
  CHECK(middle.take() == FilePart{1, 230, 20});
  CHECK_FALSE(middle.take());
  ReorderPool empty({.size = 0}, 100, 4);
  CHECK_FALSE(empty.take());
  CHECK(empty.is_over());
  CHECK(empty.next().empty());
}

TEST_CASE("what comes early waits for what is before it", "[channels]") {
  ReorderPool pool({.size = 250}, 100, 4);
  const auto first = *pool.take(), second = *pool.take();
  REQUIRE(bring(pool, second, 100));
  CHECK(pool.next().empty());
  REQUIRE(bring(pool, first, 60));
  let_out(pool);
  CHECK(pool.end() == 60);
  REQUIRE(bring(pool, first, 40));
  let_out(pool);
  CHECK(pool.end() == 200);
  CHECK(pool.buffers_in_use() == 0);
  CHECK(pool.most_in_use() == 2);
}

TEST_CASE("the last free buffer is for the part whose turn it is", "[channels]") {
  ReorderPool pool({.size = 1'000}, 100, 2);
  const auto first = *pool.take(), second = *pool.take(), third = *pool.take();
  REQUIRE(bring(pool, third, 1));
  CHECK(pool.room(second).empty());
  CHECK(pool.room(third).size() == 99);  // it has one
  CHECK(pool.room(first).size() == 100);
}

TEST_CASE("with any buffer for anyone a slow channel locks all", "[channels]") {
  CHECK(comes_with_a_slow_channel(LastBuffer::kForNextPart));
  CHECK_FALSE(comes_with_a_slow_channel(LastBuffer::kForAnyone));
}

TEST_CASE("a part that was given back goes on where it was", "[channels]") {
  ReorderPool pool({.size = 250}, 100, 4);
  const auto first = *pool.take(), second = *pool.take();
  REQUIRE(bring(pool, second, 30));
  pool.give_back(second);
  pool.give_back(first);
  CHECK(pool.take() == first);
  CHECK(pool.take() == second);
  CHECK(pool.come(second) == 30);
  CHECK(pool.room(second).size() == 70);
}

TEST_CASE("a buffer into which nothing came is free again", "[channels]") {
  ReorderPool pool({.size = 1'000}, 100, 3);
  const auto first = *pool.take(), second = *pool.take(), third = *pool.take();
  REQUIRE(bring(pool, second, 1));
  REQUIRE_FALSE(pool.room(third).empty());
  pool.leave_room(third);
  pool.leave_room(second);
  pool.leave_room(first);  // it has none
  CHECK(pool.buffers_in_use() == 1);
  CHECK(pool.come(second) == 1);
  CHECK(bring(pool, third, 100));
  CHECK(bring(pool, first, 100));
}

// Whatever channels do: the file comes without a gap, in no more buffers than there are.
TEST_CASE("random channels bring the file in order", "[channels]") {
  const auto seed = GENERATE(range(0U, 10'000U));
  std::mt19937 random(seed);
  const auto upto = [&](std::size_t most) {
    return std::uniform_int_distribution<std::size_t>(0, most)(random);
  };
  const std::size_t buffer = 1 + upto(64), buffers = 1 + upto(5);
  const std::uint64_t size = upto(2'000), from = upto(size);
  ReorderPool pool({.from = from, .size = size}, buffer, buffers);
  std::vector<PoolChannel> channels;
  for (std::size_t count = 1 + upto(7); count > 0; --count) {
    if (const auto part = pool.take()) channels.push_back({*part});
  }
  for (int step = 0; step < 200'000 && !pool.is_over(); ++step) {
    let_out(pool);
    if (channels.empty()) break;
    PoolChannel& one = channels[upto(channels.size() - 1)];
    if (upto(9) == 0) one.is_stuck = !one.is_stuck;
    if (one.is_stuck) continue;
    if (!is_whole(pool, one.part)) {
      if (upto(30) == 0) {  // its connection is lost
        pool.give_back(one.part);
        one.part = *pool.take();
      } else {
        bring(pool, one.part, 1 + upto(buffer));
      }
    } else if (const auto next = pool.take()) {
      one.part = *next;
    } else {
      std::swap(one, channels.back());
      channels.pop_back();
    }
    REQUIRE(pool.buffers_in_use() <= buffers);
  }
  let_out(pool);
  CHECK(pool.is_over());
  CHECK(pool.end() == size);
  CHECK(pool.buffers_in_use() == 0);
}
