#include "events/loop.h"

#include <fcntl.h>
#include <poll.h>
#include <sys/epoll.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <array>
#include <atomic>
#include <functional>
#include <latch>
#include <stdexcept>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "base/futex.h"
#include "base/mutex.h"
#include "net/fd.h"
#include "net/socket_io.h"
#include "tests/catch.h"
#include "tests/lib/events/loop_scene.h"

using tests::LoopThread;
using tests::Pair;

namespace {

std::string received(int fd, std::size_t bytes) {
  std::string all;
  while (all.size() < bytes) {
    std::array<char, 4096> some;
    const ssize_t got = net::receive(fd, some);
    if (got <= 0) break;
    all.append(some.data(), static_cast<std::size_t>(got));
  }
  return all;
}

}  // namespace

TEST_CASE("contexts of one loop talk with each other", "[events]") {
  LoopThread one;
  const Pair pair;
  std::string heard, answered;
  one.do_all({[&] {
                heard = received(pair.a.get(), 5);
                net::send_all(pair.a.get(), "world");
              },
              [&] {
                net::send_all(pair.b.get(), "hello");
                answered = received(pair.b.get(), 5);
              }});
  CHECK(heard == "hello");
  CHECK(answered == "world");
}

TEST_CASE("a context waits for room to send", "[events]") {
  LoopThread one;
  const Pair pair;
  const std::string much(std::size_t{8} << 20, 'x');
  std::string got;
  bool is_sent = false;
  one.do_all({[&] { is_sent = net::send_all(pair.a.get(), much); },
              [&] { got = received(pair.b.get(), much.size()); }});
  CHECK(is_sent);
  CHECK(got == much);
}

TEST_CASE("a call on a socket ends in the time that it was given", "[events]") {
  LoopThread one;
  const Pair pair;
  net::set_io_timeout(pair.a.get(), 20);
  ssize_t got = 0;
  int failure = 0;
  one.do_one([&] {
    std::array<char, 1> byte;
    got = net::receive(pair.a.get(), byte);
    failure = errno;
  });
  CHECK(got == -1);
  CHECK(failure == EAGAIN);
}

TEST_CASE("waiting for a descriptor ends at the deadline, or when it is ready already",
          "[events]") {
  LoopThread one;
  const Pair pair;
  bool before = true, behind = false;
  one.do_one([&] {
    before = net::wait_until_readable(pair.a.get(), base::Deadline::in_ms(20));
    net::send_all(pair.b.get(), "x");
    behind = net::wait_until_readable(pair.a.get(), base::Deadline::never());
  });
  CHECK_FALSE(before);
  CHECK(behind);
}

TEST_CASE("where nobody may wait a socket is only looked at", "[events][net]") {
  LoopThread one;
  const Pair pair;
  while (net::send_now(pair.a.get(), std::string(4096, 'x')) > 0) {
  }
  bool has_room = true, has_bytes = true, other_has_bytes = false;
  std::latch looked(1);
  one.loop.post([&] {
    const auto now = base::Deadline::in_ms(0);
    has_room = net::wait_until_writable(pair.a.get(), now);
    has_bytes = net::wait_until_readable(pair.a.get(), now);
    other_has_bytes = net::wait_until_readable(pair.b.get(), now);
    looked.count_down();
  });
  looked.wait();
  CHECK_FALSE(has_room);
  CHECK_FALSE(has_bytes);
  CHECK(other_has_bytes);
}

TEST_CASE("the time of a wait that ended before it cuts no later one", "[events]") {
  LoopThread one;
  const Pair pair;
  constexpr std::int64_t kShortNs = 20 * base::kNsPerMs, kLongNs = 60 * base::kNsPerMs;
  bool is_first_in_time = false, is_second_in_time = true;
  std::int64_t begun_ns = 0, ended_ns = 0;
  one.do_all({[&] {
                begun_ns = base::now_ns();
                is_first_in_time = one.loop.wait_for(pair.a.get(), POLLIN, begun_ns + kShortNs);
                std::array<char, 1> byte;
                net::receive_now(pair.a.get(), byte);
                is_second_in_time = one.loop.wait_for(pair.a.get(), POLLIN, begun_ns + kLongNs);
                ended_ns = base::now_ns();
              },
              [&] { net::send_all(pair.b.get(), "x"); }});
  CHECK(is_first_in_time);
  CHECK_FALSE(is_second_in_time);
  CHECK(ended_ns - begun_ns >= kLongNs);
}

TEST_CASE("a context that pauses lets others go on", "[events]") {
  LoopThread one;
  std::string order;
  one.do_all({[&] {
                base::pause_ms(20);
                order += "slow";
              },
              [&] { order += "quick "; }});
  CHECK(order == "quick slow");
}

TEST_CASE("a context wakes another one of its loop out of its sleep on a word", "[events]") {
  LoopThread one;
  std::atomic<std::uint32_t> word = 0;
  bool is_woken = false;
  one.do_all({[&] {
                while (word == 0) base::sleep_while(word, 0U, INT64_MAX);
                is_woken = true;
              },
              [&] {
                word = 1;
                base::wake(word);
              }});
  CHECK(is_woken);
}

TEST_CASE("a sleep on a word ends when its time has come", "[events]") {
  LoopThread one;
  std::atomic<std::uint32_t> word = 0;
  bool is_in_time = true;
  one.do_one([&] { is_in_time = base::sleep_while(word, 0U, base::now_ns() + base::kNsPerMs); });
  CHECK_FALSE(is_in_time);
  base::wake_all(word);  // nobody sleeps there any more
}

TEST_CASE("threads and contexts of several loops hand a word around", "[events]") {
  constexpr std::uint32_t kHands = 4, kRounds = 2'000;
  LoopThread one, other;
  std::atomic<std::uint32_t> word = 0;
  const auto take_part = [&](std::uint32_t hand) {
    for (std::uint32_t round = 0; round < kRounds; ++round) {
      for (std::uint32_t now = word; now % kHands != hand; now = word)
        base::sleep_while(word, now, INT64_MAX);
      ++word;
      base::wake_all(word);
    }
  };
  std::thread thread([&] { take_part(0); });
  std::thread in_other([&] { other.do_one([&] { take_part(1); }); });
  one.do_all({[&] { take_part(2); }, [&] { take_part(3); }});
  thread.join();
  in_other.join();
  CHECK(word == kHands * kRounds);
}

TEST_CASE("a condition is waited for in contexts and threads", "[events]") {
  LoopThread one;
  base::Mutex mutex;
  base::Condition changed;
  int turns = 0;
  const auto play = [&](int mine) {
    for (int i = 0; i < 500; ++i) {
      const base::Lock lock(mutex);
      while (turns % 2 != mine) changed.wait_ms(mutex, 60'000);
      ++turns;
      changed.wake_all();
    }
  };
  std::thread thread([&] { play(0); });
  one.do_one([&] { play(1); });
  thread.join();
  CHECK(turns == 1000);
}

TEST_CASE("what may block is done elsewhere, and holds up nobody", "[events]") {
  LoopThread one;
  std::atomic<bool> may_end = false;
  std::thread::id in_loop, in_work;
  int result = 0;
  one.do_all({[&] {
                in_loop = std::this_thread::get_id();
                result = base::may_block([&] {
                  in_work = std::this_thread::get_id();
                  while (!may_end) std::this_thread::yield();
                  return 7;
                });
              },
              [&] { may_end = true; }});
  CHECK(result == 7);
  CHECK(in_work != in_loop);
}

TEST_CASE("what is thrown elsewhere is thrown to who waits for it", "[events]") {
  LoopThread one;
  std::string reason;
  one.do_one([&] {
    try {
      base::may_block([] { throw std::runtime_error("the disk is gone"); });
    } catch (const std::exception& failure) {
      reason = failure.what();
    }
  });
  CHECK(reason == "the disk is gone");
}

TEST_CASE("a thread without a loop does what may block itself", "[events]") {
  const auto mine = std::this_thread::get_id();
  CHECK(base::may_block([] { return std::this_thread::get_id(); }) == mine);
}

TEST_CASE("who works on and on lets others go on after its turn", "[events]") {
  LoopThread one;
  bool is_ended = false;
  int units = 0;
  one.do_all({[&] {
                while (!is_ended && units < 1'000'000) {
                  ++units;
                  base::has_worked(1);
                }
              },
              [&] { is_ended = true; }});
  CHECK(units < 1000);
}

TEST_CASE("a loop that is held up stands still, and one that sleeps does not", "[events]") {
  LoopThread one;
  const auto becomes = [&](bool still) {
    const auto deadline = base::Deadline::in_ms(30'000);
    while (one.loop.stands_still(base::now_ns()) != still && !deadline.has_passed())
      std::this_thread::yield();
    return one.loop.stands_still(base::now_ns()) == still;
  };
  std::atomic<bool> may_end = false;
  one.loop.post([&] {
    while (!may_end) std::this_thread::yield();
  });
  CHECK(becomes(true));
  may_end = true;
  CHECK(becomes(false));
  base::pause_ms(200);
  CHECK(becomes(false));
}

TEST_CASE("a watch is told of its descriptor, and a timer of its time", "[events]") {
  struct Told final : events::Watch, events::Timer {
    void happened(std::uint32_t events) override { seen |= events; }
    void is_due() override { due = true; }
    std::atomic<std::uint32_t> seen = 0;
    std::atomic<bool> due = false;
  } told;
  const Pair pair;
  LoopThread one;
  one.loop.post([&] {
    one.loop.watch(pair.a.get(), EPOLLIN | EPOLLET, told);
    one.loop.set_timer(told, base::now_ns() + base::kNsPerMs);
  });
  net::send_all(pair.b.get(), "x");
  while ((told.seen & EPOLLIN) == 0 || !told.due) std::this_thread::yield();
  CHECK(told.due);
}

#if !defined(TURNSTILE_SANITIZE_ADDRESS) && !defined(TURNSTILE_SANITIZE_THREAD)

TEST_CASE("a task that found no memory for a context runs when there is some", "[events][rlimit]") {
  constexpr int kTasks = 8;  // of which each has one of the first contexts, to the end
  std::latch have_begun(kTasks), is_over(1), last(1);
  LoopThread one;
  for (int i = 0; i < kTasks; ++i) {
    one.begin([&] {
      have_begun.count_down();
      base::Mutex mutex;
      base::Condition never;
      const base::Lock lock(mutex);
      while (!is_over.try_wait()) never.wait_ms(mutex, 10);
    });
  }
  have_begun.wait();
  rlimit before{};
  REQUIRE(::getrlimit(RLIMIT_AS, &before) == 0);
  std::atomic<bool> is_starved = false;
  // What is smaller than a stack is there.
  one.loop.post([&] {
    const rlimit none{1, before.rlim_max};
    ::setrlimit(RLIMIT_AS, &none);
  });
  one.begin([&] { last.count_down(); });
  while (!is_starved) {
    one.loop.post([&] { is_starved = is_starved || one.loop.is_short_of_memory(); });
    base::pause_ms(1);
  }
  ::setrlimit(RLIMIT_AS, &before);
  last.wait();
  is_over.count_down();
}

#endif
