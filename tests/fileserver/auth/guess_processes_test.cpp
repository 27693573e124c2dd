// What GuessThrottle promises to processes that count together.

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <atomic>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "fileserver/auth/guess_throttle.h"
#include "serve/shared_memory.h"
#include "tests/catch.h"

using fileserver::GuessThrottle;
using Admission = GuessThrottle::Admission;

namespace {

constexpr std::int64_t kPatienceOfProcessMs = 30'000;
constexpr int kForgetAfterS = 60;

std::int64_t processes_now_ns = 0;  // of each process by itself
int dies_when_asked = 0;            // at which question for the time; 0: never

std::int64_t processes_now() {
  if (dies_when_asked > 0 && --dies_when_asked == 0) ::raise(SIGKILL);
  return processes_now_ns;
}

void let_seconds_pass(std::int64_t seconds) { processes_now_ns += seconds * base::kNsPerS; }

// A throttle whose clock stands still, for this process and its children.
class ProcessesScene {
 public:
  explicit ProcessesScene(int wrong_passwords = 10)
      : throttle({.wrong_passwords = wrong_passwords,
                  .addresses = 1000,
                  .forget_places_after_ns = kForgetAfterS * base::kNsPerS},
                 &processes_now) {
    processes_now_ns = 50 * kForgetAfterS * base::kNsPerS;
  }

  GuessThrottle::Attempt begin(const std::string& user, const std::string& password,
                               std::int64_t patience_ms = kPatienceOfProcessMs) {
    return throttle.begin(here_, {user, password}, patience_ms);
  }

  Admission log_in(const std::string& user, const std::string& password) {
    auto attempt = begin(user, password);
    if (attempt.admission() != Admission::kAsk) return attempt.admission();
    if (password == "right") {
      attempt.granted();
    } else {
      attempt.denied();
    }
    return Admission::kAsk;
  }

  // Whether the authserver would be asked now.
  Admission admission(const std::string& user, const std::string& password) {
    return begin(user, password, 1).admission();
  }

  GuessThrottle throttle;

 private:
  const net::IpAddress here_ = *net::parse_ip_address("192.0.2.1");
};

// Forks a process that lives as long as `life`, whose result is its exit status.
template <typename Life>
pid_t forked(const Life& life) {
  const pid_t pid = ::fork();
  if (pid == 0) ::_exit(static_cast<int>(life()));
  REQUIRE(pid > 0);
  return pid;
}

int status_of(pid_t pid) {
  int status = 0;
  ::waitpid(pid, &status, 0);
  return status;
}

// The same as scene.log_in(), in a process of its own.
Admission log_in_elsewhere(ProcessesScene& scene, const std::string& user,
                           const std::string& password) {
  return Admission{WEXITSTATUS(status_of(forked([&] { return scene.log_in(user, password); })))};
}

}  // namespace

TEST_CASE("the wrong passwords of all processes count together", "[throttle]") {
  ProcessesScene scene;
  CHECK(log_in_elsewhere(scene, "amy", "right") == Admission::kAsk);
  for (int i = 0; i < 10; ++i)
    CHECK(log_in_elsewhere(scene, "amy", std::to_string(i)) == Admission::kAsk);
  CHECK(log_in_elsewhere(scene, "amy", "10") == Admission::kTooMany);
  CHECK(log_in_elsewhere(scene, "amy", "right") == Admission::kTooMany);
  CHECK(scene.log_in("amy", "right") == Admission::kTooMany);
  CHECK(log_in_elsewhere(scene, "bob", "right") == Admission::kAsk);
  let_seconds_pass(6);
  CHECK(log_in_elsewhere(scene, "amy", "10") == Admission::kAsk);
  CHECK(log_in_elsewhere(scene, "amy", "11") == Admission::kTooMany);
}

TEST_CASE("a hundred wrong passwords of an address are those of all processes", "[throttle]") {
  ProcessesScene scene(1);  // ten for an address
  CHECK(log_in_elsewhere(scene, "amy", "right") == Admission::kAsk);
  for (int i = 0; i < 10; ++i)
    CHECK(log_in_elsewhere(scene, std::to_string(i), "wrong") == Admission::kAsk);
  CHECK(log_in_elsewhere(scene, "bob", "wrong") == Admission::kTooMany);
  CHECK(log_in_elsewhere(scene, "amy", "right") == Admission::kTooMany);
  let_seconds_pass(1);
  CHECK(log_in_elsewhere(scene, "amy", "right") == Admission::kAsk);
}

TEST_CASE("a wrong pair that another process sent again does not count", "[throttle]") {
  ProcessesScene scene(2);
  for (int i = 0; i < 10; ++i) CHECK(log_in_elsewhere(scene, "amy", "typo") == Admission::kAsk);
  CHECK(log_in_elsewhere(scene, "amy", "one") == Admission::kAsk);
  CHECK(log_in_elsewhere(scene, "amy", "two") == Admission::kTooMany);
}

TEST_CASE("a pair that was right in another process is known, until it is wrong in one",
          "[throttle]") {
  ProcessesScene scene;
  CHECK(log_in_elsewhere(scene, "amy", "right") == Admission::kAsk);
  CHECK(scene.begin("amy", "right").was_right_lately());
  status_of(forked([&] { return scene.begin("amy", "right").denied(); }));
  CHECK_FALSE(scene.begin("amy", "right").was_right_lately());
}

TEST_CASE("of guesses of many processes at once, ten reach the authserver", "[throttle]") {
  ProcessesScene scene;
  const serve::Shared<std::atomic<int>> under_way(std::in_place, 0);
  const serve::Shared<std::atomic<int>> most_under_way(std::in_place, 0);
  std::vector<pid_t> children;
  for (int i = 0; i < 30; ++i) {
    children.push_back(forked([&] {
      auto attempt = scene.begin("amy", std::to_string(i));
      if (attempt.admission() != Admission::kAsk) return attempt.admission();
      const int now = ++*under_way;
      for (int most = *most_under_way;
           most < now && !most_under_way->compare_exchange_weak(most, now);) {
      }
      base::pause_ms(5);
      --*under_way;
      attempt.denied();
      return attempt.admission();
    }));
  }
  int asked = 0;
  int refused = 0;
  for (const pid_t child : children) {
    const Admission admission{WEXITSTATUS(status_of(child))};
    asked += admission == Admission::kAsk ? 1 : 0;
    refused += admission == Admission::kTooMany ? 1 : 0;
  }
  CHECK(asked == 10);
  CHECK(refused == 20);
  CHECK(*most_under_way <= 10);
}

TEST_CASE("a place that another process gives back is there for who waits", "[throttle]") {
  ProcessesScene scene(1);
  const serve::Shared<std::atomic<bool>> is_taken(std::in_place, false);
  const pid_t child = forked([&] {
    auto attempt = scene.begin("amy", "one");
    *is_taken = true;
    base::pause_ms(50);
    attempt.granted();
    return 0;
  });
  while (!*is_taken) base::pause_ms(1);
  CHECK(scene.admission("bob", "two") == Admission::kAsk);
  CHECK(scene.begin("amy", "two").admission() == Admission::kAsk);
  CHECK(status_of(child) == 0);
}

TEST_CASE("the place of a process that was killed is forgotten in time", "[throttle]") {
  ProcessesScene scene(1);
  const pid_t child = forked([&] {
    const auto attempt = scene.begin("amy", "one");
    ::raise(SIGKILL);
    return 0;
  });
  CHECK(WTERMSIG(status_of(child)) == SIGKILL);
  CHECK(scene.admission("amy", "two") == Admission::kNoPlace);
  let_seconds_pass(2 * kForgetAfterS - 1);
  CHECK(scene.admission("amy", "two") == Admission::kNoPlace);
  let_seconds_pass(1);
  CHECK(scene.admission("amy", "two") == Admission::kAsk);
}

TEST_CASE("the places of those killed are forgotten though others come all the time",
          "[throttle]") {
  ProcessesScene scene(4);
  for (int i = 0; i < 2; ++i) {
    status_of(forked([&] {
      const auto attempt = scene.begin("amy", "one");
      ::raise(SIGKILL);
      return 0;
    }));
  }
  std::optional<GuessThrottle::Attempt> other = scene.begin("amy", "one");
  for (int i = 0; i < 3 * kForgetAfterS; ++i) {
    let_seconds_pass(1);
    auto next = scene.begin("amy", "one", 1);  // before the other one ends
    REQUIRE(next.admission() == Admission::kAsk);
    other.emplace(std::move(next));
  }
  const auto first = scene.begin("amy", "one", 1);
  const auto second = scene.begin("amy", "two", 1);
  const auto third = scene.begin("amy", "three", 1);
  CHECK(third.admission() == Admission::kAsk);
}

TEST_CASE("a place that was forgotten is not given back to who took it since", "[throttle]") {
  ProcessesScene scene(1);
  std::optional<GuessThrottle::Attempt> late = scene.begin("amy", "late");
  let_seconds_pass(kForgetAfterS);
  CHECK(scene.admission("amy", "one") == Admission::kNoPlace);
  let_seconds_pass(kForgetAfterS);
  const auto first = scene.begin("amy", "one", 1);
  CHECK(first.admission() == Admission::kAsk);
  late.reset();
  CHECK(scene.admission("amy", "two") == Admission::kNoPlace);
}

TEST_CASE("a place of the period before is given back", "[throttle]") {
  ProcessesScene scene(1);
  std::optional<GuessThrottle::Attempt> first = scene.begin("amy", "one");
  let_seconds_pass(kForgetAfterS);
  first.reset();
  CHECK(scene.admission("amy", "two") == Admission::kAsk);
}

TEST_CASE("a process that is killed while it counts keeps nobody out", "[throttle]") {
  ProcessesScene scene(2);
  CHECK(log_in_elsewhere(scene, "amy", "one") == Admission::kAsk);
  for (int question = 1; question <= 5; ++question) {
    CAPTURE(question);
    const pid_t child = forked([&] {
      dies_when_asked = question;
      return scene.log_in("amy", "two");
    });
    CHECK(WIFSIGNALED(status_of(child)));
    let_seconds_pass(2 * kForgetAfterS);
    CHECK(log_in_elsewhere(scene, "amy", "right") == Admission::kAsk);
    CHECK(scene.log_in("bob", "right") == Admission::kAsk);
  }
}
