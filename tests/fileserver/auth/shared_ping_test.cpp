// One ping of a crowd. Its contexts are on one loop, and begin in their order: when the last one
// has begun, all before it wait.
#include "fileserver/auth/shared_ping.h"

#include <cstddef>
#include <functional>
#include <stdexcept>
#include <string>
#include <vector>

#include "base/clock.h"
#include "tests/catch.h"
#include "tests/lib/events/loop_scene.h"

using fileserver::SharedPing;

namespace {

constexpr std::size_t kMeanwhile = 20;
constexpr int kWithinMs = 30'000;  // nobody waits for that, unless nothing wakes him

base::Status failed(std::string why) {
  return base::Error{base::ErrorCode::kInternal, std::move(why)};
}

std::string text_of(const base::Status& answer) {
  if (answer) return "OK";
  return answer.error().code == base::ErrorCode::kUnavailable ? "unavailable"
                                                              : answer.error().context;
}

// The first one asks until all of a crowd have come.
struct PingScene {
  // Asks with ask(round), which the first one does once all are there. What each is told; "thrown"
  // is what ask() has thrown.
  std::vector<std::string> told(const std::function<base::Status(int round)>& ask) {
    std::vector<std::string> told(kMeanwhile + 1);
    std::vector<std::function<void()>> works;
    for (std::string& mine : told) {
      works.push_back([&] {
        ++come;
        mine = told_once([&] {
          const int round = ++rounds;
          while (come <= kMeanwhile) base::pause_ms(1);
          return ask(round);
        });
      });
    }
    one.do_all(std::move(works));
    return told;
  }

  std::string told_once(const std::function<base::Status()>& ask, int within_ms = kWithinMs) {
    const auto deadline = base::Deadline::in_ms(within_ms);
    const auto ask_in_time = [&] { return deadline.has_passed() ? failed("late") : ask(); };
    try {
      return text_of(ping.ask(deadline, ask_in_time));
    } catch (const std::runtime_error&) {
      return "thrown";
    }
  }

  SharedPing ping;
  std::size_t come = 0;  // this and the next one: of the loop's thread
  int rounds = 0;
  tests::LoopThread one;  // the last one, as its contexts use the others
};

// What the first one is told, and then all the others.
std::vector<std::string> first_and(const std::string& first, const std::string& others) {
  std::vector<std::string> all(kMeanwhile + 1, others);
  all.front() = first;
  return all;
}

}  // namespace

TEST_CASE("who comes while another one asks shares a later answer with the others",
          "[fileserver]") {
  PingScene scene;
  const auto told = scene.told([](int round) { return failed(std::to_string(round)); });
  CHECK(told == first_and("1", "2"));
  CHECK(scene.rounds == 2);
}

TEST_CASE("whether the first one fails is nothing to those who come meanwhile", "[fileserver]") {
  for (const bool throws : {false, true}) {
    PingScene scene;
    const auto told = scene.told([&](int round) -> base::Status {
      if (round == 1 && throws) throw std::runtime_error("no memory");
      return round == 1 ? failed("failed") : base::Status(base::kDone);
    });
    CHECK(told == first_and(throws ? "thrown" : "failed", "OK"));
    CHECK(scene.rounds == 2);
  }
}

TEST_CASE("who shares a ping that throws has no answer, and the next one asks", "[fileserver]") {
  PingScene scene;
  const auto told = scene.told([](int round) -> base::Status {
    if (round > 1) throw std::runtime_error("no memory");
    return base::kDone;
  });
  auto expected = first_and("OK", "unavailable");
  expected.at(1) = "thrown";
  CHECK(told == expected);
  CHECK(scene.rounds == 2);
  scene.one.do_one([&] { CHECK(scene.told_once([] { return failed("again"); }) == "again"); });
}

TEST_CASE("who has no time left while another one asks is told that, and asks nothing",
          "[fileserver]") {
  PingScene scene;
  bool is_asking = false, has_asked_too = false;
  std::string first, second;
  scene.one.do_all({[&] {
                      first = scene.told_once([&]() -> base::Status {
                        is_asking = true;
                        while (is_asking) base::pause_ms(1);
                        return base::kDone;
                      });
                    },
                    [&] {
                      CHECK(is_asking);
                      second = scene.told_once(
                          [&]() -> base::Status {
                            has_asked_too = true;
                            return base::kDone;
                          },
                          1);
                      is_asking = false;
                    }});
  CHECK(first == "OK");
  CHECK(second == "unavailable");
  CHECK_FALSE(has_asked_too);
}
