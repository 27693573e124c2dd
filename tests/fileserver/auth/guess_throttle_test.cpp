#include "fileserver/auth/guess_throttle.h"

#include <atomic>
#include <list>
#include <string>
#include <thread>
#include <vector>

#include "net/address.h"
#include "tests/catch.h"

using fileserver::GuessThrottle;
using Admission = GuessThrottle::Admission;

namespace {

constexpr std::int64_t kLongMs = 30'000;

std::atomic<std::int64_t> fake_now_ns = 0;
std::int64_t fake_now() { return fake_now_ns; }
void pass_s(std::int64_t seconds) { fake_now_ns += seconds * base::kNsPerS; }

net::IpAddress ip(const std::string& host) {
  return net::IpAddress(*net::resolve({host, 80})->front().get());
}

// A throttle whose clock stands still, and an authserver that knows one right password.
class ThrottleScene {
 public:
  explicit ThrottleScene(int wrong_passwords = 10, int addresses = 1000)
      : throttle({wrong_passwords, addresses}, &fake_now) {
    fake_now_ns = 1'000'000 * base::kNsPerS;
  }

  // Whether the authserver was asked.
  bool log_in(const std::string& host, const std::string& password,
              const std::string& user = "amy") {
    auto attempt = throttle.begin(ip(host), {user, password}, kLongMs);
    if (attempt.admission() != Admission::kAsk) return false;
    if (password == "right") {
      attempt.granted();
    } else {
      attempt.denied();
    }
    return true;
  }

  // Of `count` wrong passwords that were not sent before, how many reached the authserver.
  int guess(const std::string& host, int count) {
    int asked = 0;
    for (int i = 0; i < count; ++i)
      asked += log_in(host, "wrong" + std::to_string(next_guess_++)) ? 1 : 0;
    return asked;
  }

  // The same, with a wrong password for another user each time.
  int guess_users(const std::string& host, int count) {
    int asked = 0;
    for (int i = 0; i < count; ++i)
      asked += log_in(host, "wrong", "user" + std::to_string(next_guess_++)) ? 1 : 0;
    return asked;
  }

  // Whether the authserver would be asked now. The answer is right if it is.
  Admission admission(const std::string& host, const std::string& user,
                      const std::string& password) {
    return throttle.begin(ip(host), {user, password}, 1).admission();
  }

  GuessThrottle throttle;

 private:
  int next_guess_ = 0;
};

const std::string kHere = "192.0.2.1";
const std::string kElsewhere = "192.0.2.2";

}  // namespace

TEST_CASE("ten wrong passwords for a user reach the authserver, then one each six seconds",
          "[throttle]") {
  ThrottleScene scene;
  CHECK(scene.guess(kHere, 100) == 10);
  pass_s(5);
  CHECK(scene.guess(kHere, 100) == 0);
  pass_s(1);
  CHECK(scene.guess(kHere, 100) == 1);
  pass_s(60);
  CHECK(scene.guess(kHere, 100) == 10);
}

TEST_CASE("at the limit of a user nobody else is refused, and the user only at that address",
          "[throttle]") {
  ThrottleScene scene;
  CHECK(scene.log_in(kHere, "right"));
  scene.guess(kHere, 10);
  CHECK_FALSE(scene.log_in(kHere, "right"));
  CHECK(scene.log_in(kHere, "right", "bob"));
  CHECK(scene.log_in(kElsewhere, "right"));
  CHECK(scene.log_in(kElsewhere, "right", "bob"));
  pass_s(6);
  CHECK(scene.log_in(kHere, "right"));
}

TEST_CASE("a hundred wrong passwords of an address reach the authserver, then one each second",
          "[throttle]") {
  ThrottleScene scene;
  CHECK(scene.log_in(kHere, "right"));
  CHECK(scene.guess_users(kHere, 99) == 99);
  CHECK(scene.log_in(kHere, "right"));
  CHECK(scene.guess_users(kHere, 100) == 1);
  CHECK_FALSE(scene.log_in(kHere, "right"));
  CHECK_FALSE(scene.log_in(kHere, "right", "bob"));
  CHECK(scene.log_in(kElsewhere, "right"));
  pass_s(1);
  CHECK(scene.log_in(kHere, "right"));
  CHECK(scene.guess_users(kHere, 100) == 1);
  CHECK_FALSE(scene.log_in(kHere, "right"));
}

TEST_CASE("right passwords do not count, however many there are", "[throttle]") {
  ThrottleScene scene;
  scene.guess(kHere, 9);
  for (int i = 0; i < 1000; ++i) CHECK(scene.log_in(kHere, "right", std::to_string(i)));
  CHECK(scene.guess(kHere, 100) == 1);
}

TEST_CASE("the same wrong pair again does not count", "[throttle]") {
  ThrottleScene scene;
  for (int i = 0; i < 1000; ++i) CHECK(scene.log_in(kHere, "typo"));
  CHECK(scene.guess(kHere, 100) == 9);
}

TEST_CASE("wrong pairs of thirty devices that try again and again do not count", "[throttle]") {
  ThrottleScene scene;
  for (int time = 0; time < 100; ++time) {
    for (int device = 0; device < 30; ++device)
      CHECK(scene.log_in(kHere, "typo", std::to_string(device)));
    pass_s(5);
  }
  CHECK(scene.guess(kHere, 100) == 10);
}

TEST_CASE("the same wrong password of another user, or from another address, counts",
          "[throttle]") {
  ThrottleScene scene(1);  // ten for an address
  for (int i = 0; i < 10; ++i) CHECK(scene.log_in(kHere, "typo", std::to_string(i)));
  CHECK_FALSE(scene.log_in(kHere, "typo", "amy"));
  CHECK(scene.log_in(kElsewhere, "typo", "amy"));
  CHECK_FALSE(scene.log_in(kElsewhere, "wrong", "amy"));
}

TEST_CASE("a pair that was right and is wrong now counts", "[throttle]") {
  ThrottleScene scene(1);
  CHECK(scene.log_in(kHere, "right"));
  {
    auto attempt = scene.throttle.begin(ip(kHere), {"amy", "right"}, kLongMs);
    REQUIRE(attempt.admission() == Admission::kAsk);
    CHECK(attempt.denied());
  }
  CHECK(scene.guess(kHere, 1) == 0);
}

TEST_CASE("what the authserver could not answer does not count", "[throttle]") {
  ThrottleScene scene;
  for (int i = 0; i < 100; ++i) {
    const auto attempt = scene.throttle.begin(ip(kHere), {"amy", std::to_string(i)}, kLongMs);
    CHECK(attempt.admission() == Admission::kAsk);
  }
  CHECK(scene.guess(kHere, 100) == 10);
}

TEST_CASE("the addresses of an IPv6 /64 are one, those of another /64 are not", "[throttle]") {
  ThrottleScene scene;
  CHECK(scene.guess("2001:db8:0:1::1", 5) + scene.guess("2001:db8:0:1:ffff::2", 100) == 10);
  CHECK(scene.guess("2001:db8:0:2::1", 100) == 10);
  CHECK(scene.guess("192.0.2.1", 5) + scene.guess("::ffff:192.0.2.1", 100) == 10);
  CHECK(scene.guess("192.0.2.2", 100) == 10);
}

TEST_CASE("without a limit nothing is throttled", "[throttle]") {
  ThrottleScene scene(0);
  CHECK(scene.guess(kHere, 1000) == 1000);
}

TEST_CASE("of many guesses at once, no more reach the authserver than one after the other",
          "[throttle]") {
  ThrottleScene scene;
  std::atomic<int> asked = 0;
  std::atomic<int> refused = 0;
  std::atomic<int> under_way = 0;
  std::atomic<int> most_under_way = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 64; ++i) {
    threads.emplace_back([&, i] {
      const std::string password = std::to_string(i);
      auto attempt = scene.throttle.begin(ip(kHere), {"amy", password}, kLongMs);
      if (attempt.admission() == Admission::kTooMany) ++refused;
      if (attempt.admission() != Admission::kAsk) return;
      ++asked;
      int most = most_under_way;
      const int now = ++under_way;
      while (most < now && !most_under_way.compare_exchange_weak(most, now)) {
      }
      std::this_thread::yield();
      --under_way;
      attempt.denied();
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(asked == 10);
  CHECK(most_under_way <= 10);
  CHECK(refused == 54);
}

TEST_CASE("many right passwords at once all have their turn", "[throttle]") {
  ThrottleScene scene;
  std::atomic<int> asked = 0;
  std::vector<std::thread> threads;
  for (int i = 0; i < 64; ++i) {
    threads.emplace_back([&, i] {
      for (int j = 0; j < 20; ++j)
        asked += scene.log_in(kHere, "right", std::to_string(100 * i + j)) ? 1 : 0;
    });
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(asked == 64 * 20);
  CHECK(scene.guess(kHere, 100) == 10);
}

TEST_CASE("of those who wait for a place, one has it at a time", "[throttle]") {
  constexpr int kClients = 8;
  ThrottleScene scene(1);
  std::atomic<int> under_way = 0;
  std::atomic<int> most_under_way = 0;
  std::vector<std::thread> threads;
  {
    auto first = scene.throttle.begin(ip(kHere), {"amy", "first"}, kLongMs);
    REQUIRE(first.admission() == Admission::kAsk);
    for (int i = 0; i < kClients; ++i) {
      threads.emplace_back([&, i] {
        const std::string password = std::to_string(i);
        auto attempt = scene.throttle.begin(ip(kHere), {"amy", password}, kLongMs);
        const int now = ++under_way;
        for (int most = most_under_way;
             most < now && !most_under_way.compare_exchange_weak(most, now);) {
        }
        base::pause_ms(20);
        --under_way;
        attempt.granted();
      });
    }
    base::pause_ms(100);  // so that most of them wait
  }
  for (std::thread& thread : threads) thread.join();
  CHECK(most_under_way == 1);
}

TEST_CASE("a log-in that waits for a place is told when there is none in time", "[throttle]") {
  ThrottleScene scene(1);
  auto first = scene.throttle.begin(ip(kHere), {"amy", "one"}, kLongMs);
  REQUIRE(first.admission() == Admission::kAsk);
  CHECK(scene.admission(kHere, "amy", "two") == Admission::kNoPlace);
  CHECK(scene.admission(kHere, "bob", "two") == Admission::kAsk);
  CHECK(scene.admission(kElsewhere, "amy", "two") == Admission::kAsk);
}

TEST_CASE("guesses for any number of users at once are bounded by their address", "[throttle]") {
  ThrottleScene scene(1);
  std::list<GuessThrottle::Attempt> under_way;
  for (int i = 0; i < 10; ++i) {
    const std::string user = std::to_string(i);
    under_way.push_back(scene.throttle.begin(ip(kHere), {user, "x"}, kLongMs));
    REQUIRE(under_way.back().admission() == Admission::kAsk);
  }
  CHECK(scene.admission(kHere, "amy", "x") == Admission::kNoPlace);
  CHECK(scene.admission(kElsewhere, "amy", "x") == Admission::kAsk);
  for (auto& one : under_way) CHECK(one.denied());
  CHECK(scene.admission(kHere, "amy", "x") == Admission::kTooMany);
}

TEST_CASE("who waits for a user holds no place of the address", "[throttle]") {
  ThrottleScene scene(1);
  auto first = scene.throttle.begin(ip(kHere), {"amy", "one"}, kLongMs);
  std::atomic<int> refused = 0;
  std::vector<std::thread> waiting;
  for (int i = 0; i < 20; ++i) {
    waiting.emplace_back([&] {
      const auto attempt = scene.throttle.begin(ip(kHere), {"amy", "two"}, kLongMs);
      refused += attempt.admission() == Admission::kTooMany ? 1 : 0;
    });
  }
  base::pause_ms(50);  // so that most of them wait
  CHECK(scene.admission(kHere, "bob", "x") == Admission::kAsk);
  first.denied();
  for (std::thread& one : waiting) one.join();
  CHECK(refused == 20);
}

TEST_CASE("a wrong pair that is repeated takes a place, and gives it back", "[throttle]") {
  ThrottleScene scene(2);
  CHECK(scene.log_in(kHere, "typo"));
  {
    auto first = scene.throttle.begin(ip(kHere), {"amy", "typo"}, kLongMs);
    REQUIRE(first.admission() == Admission::kAsk);
    CHECK(scene.throttle.begin(ip(kHere), {"amy", "typo"}, 1).admission() == Admission::kNoPlace);
    CHECK_FALSE(first.denied());
  }
  CHECK(scene.log_in(kHere, "typo"));
}

TEST_CASE("a pair that was right lately takes no place while nobody guesses its user",
          "[throttle]") {
  ThrottleScene scene(1);
  CHECK(scene.log_in(kHere, "right"));
  std::list<GuessThrottle::Attempt> under_way;  // as many as the address may have
  for (int i = 0; i < 10; ++i)
    under_way.push_back(scene.throttle.begin(ip(kHere), {std::to_string(i), "x"}, kLongMs));
  std::list<GuessThrottle::Attempt> known;
  for (int i = 0; i < 10; ++i) {
    known.push_back(scene.throttle.begin(ip(kHere), {"amy", "right"}, 1));
    CHECK(known.back().admission() == Admission::kAsk);
  }
}

TEST_CASE("many log-ins with a right pair do not wait for each other behind a guess",
          "[throttle]") {
  ThrottleScene scene(2);
  CHECK(scene.log_in(kHere, "right"));
  const auto guess = scene.throttle.begin(ip(kHere), {"amy", "guess"}, kLongMs);
  std::list<GuessThrottle::Attempt> known;
  for (int i = 0; i < 3; ++i) {
    known.push_back(scene.throttle.begin(ip(kHere), {"amy", "right"}, 1));
    CHECK(known.back().admission() == Admission::kAsk);
  }
}

TEST_CASE("of many guesses at once none tells which pair was right lately", "[throttle]") {
  ThrottleScene scene(2);
  CHECK(scene.log_in(kHere, "right"));
  for (const std::string& from : {kHere, kElsewhere}) {
    CAPTURE(from);
    auto one = scene.throttle.begin(ip(from), {"amy", "one"}, kLongMs);
    auto two = scene.throttle.begin(ip(from), {"amy", "two"}, kLongMs);
    CHECK(scene.admission(from, "amy", "three") == Admission::kNoPlace);
    CHECK(scene.admission(from, "amy", "right") == Admission::kNoPlace);
    one.denied();
    two.denied();
    CHECK(scene.admission(from, "amy", "three") == Admission::kTooMany);
    CHECK(scene.admission(from, "amy", "right") == Admission::kTooMany);
  }
}

TEST_CASE("a pair is known as right at the address from which it was", "[throttle]") {
  ThrottleScene scene;
  CHECK(scene.log_in(kHere, "right"));
  const auto is_known = [&](const std::string& from) {
    return scene.throttle.begin(ip(from), {"amy", "right"}, kLongMs).was_right_lately();
  };
  CHECK(is_known(kHere));
  CHECK_FALSE(is_known(kElsewhere));
}

TEST_CASE("a pair that was right takes a place again after 900 seconds", "[throttle]") {
  ThrottleScene scene;
  CHECK(scene.log_in(kHere, "right"));
  const auto is_known = [&] {
    return scene.throttle.begin(ip(kHere), {"amy", "right"}, kLongMs).was_right_lately();
  };
  pass_s(880);
  CHECK(is_known());
  pass_s(20);
  CHECK_FALSE(is_known());
}

TEST_CASE("a pair for which the authserver has no answer in time takes a place again",
          "[throttle]") {
  ThrottleScene scene(1);
  CHECK(scene.log_in(kHere, "right"));
  const auto begin = [&] { return scene.throttle.begin(ip(kHere), {"amy", "right"}, kLongMs); };
  CHECK(begin().was_right_lately());
  begin().not_answered();
  CHECK_FALSE(begin().was_right_lately());
  CHECK(scene.log_in(kHere, "right"));
  CHECK(begin().was_right_lately());
}

TEST_CASE("a pair that became wrong is not known as right any more", "[throttle]") {
  ThrottleScene scene;
  CHECK(scene.log_in(kHere, "right"));
  auto attempt = scene.throttle.begin(ip(kHere), {"amy", "right"}, kLongMs);
  attempt.denied();
  CHECK_FALSE(scene.throttle.begin(ip(kHere), {"amy", "right"}, kLongMs).was_right_lately());
}

TEST_CASE("when the table is full, the address that is forgiven first is forgotten", "[throttle]") {
  ThrottleScene scene(10, 8);  // one set: all addresses meet
  for (int i = 1; i <= 8; ++i) {
    CHECK(scene.guess("192.0.2." + std::to_string(i), i == 3 ? 5 : 10) == (i == 3 ? 5 : 10));
  }
  CHECK(scene.guess(kElsewhere, 1) == 0);
  CHECK(scene.guess("198.51.100.1", 3) == 3);  // takes the place of 192.0.2.3
  for (int i : {1, 2, 4, 5, 6, 7, 8}) {
    CAPTURE(i);
    CHECK(scene.guess("192.0.2." + std::to_string(i), 1) == 0);
  }
  CHECK(scene.log_in("198.51.100.2", "right"));  // needs no entry of its own
  CHECK(scene.guess("198.51.100.1", 100) == 7);
}

TEST_CASE("users that are made up push out nobody who is at the limit", "[throttle]") {
  ThrottleScene scene(10, 8);  // one set: all users meet
  CHECK(scene.guess(kHere, 10) == 10);
  CHECK(scene.guess_users(kHere, 80) == 80);
  CHECK(scene.guess_users(kElsewhere, 90) == 90);
  CHECK(scene.guess(kHere, 1) == 0);
  CHECK(scene.guess_users(kHere, 100) == 10);
}

TEST_CASE("what is forgiven makes room", "[throttle]") {
  ThrottleScene scene(10, 8);
  for (int i = 1; i <= 8; ++i) scene.guess("192.0.2." + std::to_string(i), 10);
  pass_s(60);
  for (int i = 1; i <= 8; ++i) CHECK(scene.guess("198.51.100." + std::to_string(i), 100) == 10);
}
