// What others do between two steps of a request in a CommitQueue. Nobody looks by itself here, so
// it waits in vain for a call that is missing.
#include <sys/syscall.h>
#include <time.h>
#include <unistd.h>

#include <cstdint>
#include <functional>
#include <string>
#include <thread>
#include <utility>

#include "tests/authserver/stores/commit_queue_scene.h"
#include "tests/catch.h"

using namespace tests;

namespace {

constexpr std::int64_t kNever = INT64_MAX / 2;

// What else a look at the clock does. It may change the time.
using AtClock = std::function<void(timespec& time)>;

thread_local const AtClock* at_clock = nullptr;

}  // namespace

// Takes the place of the library's function in the whole program, for the threads of this test.
extern "C" int clock_gettime(clockid_t clock, timespec* time) noexcept {
  const long done = ::syscall(SYS_clock_gettime, clock, time);
  if (const AtClock* const also = std::exchange(at_clock, nullptr)) {
    (*also)(*time);
    at_clock = also;
  }
  return static_cast<int>(done);
}

namespace {

// Creates an account, in a thread of its own, while somebody else leads. `before_sleep` is called
// when it is in the queue, has tried in vain to lead, and looks whether its time is over.
class Follower {
 public:
  Follower(CommitScene& scene, const std::string& user, AtClock before_sleep)
      : before_sleep_(std::move(before_sleep)), thread_([this, &scene, user] {
          const AtClock count = [this](timespec& time) {
            if (++looks_ == 2) before_sleep_(time);
          };
          const std::int64_t deadline_ns = later();
          at_clock = &count;
          is_created_ = scene.create(user, deadline_ns).ok();
          at_clock = nullptr;
          is_in_time_ = base::now_ns() < deadline_ns;
        }) {}
  ~Follower() { join(); }
  Follower(const Follower&) = delete;
  Follower& operator=(const Follower&) = delete;

  bool is_created_in_time() {
    join();
    return is_created_ && is_in_time_;
  }

 private:
  void join() {
    if (thread_.joinable()) thread_.join();
  }

  const AtClock before_sleep_;
  int looks_ = 0;
  bool is_created_ = false;
  bool is_in_time_ = false;
  std::thread thread_;
};

}  // namespace

TEST_CASE("who has led calls one of those who wait", "[stores]") {
  CommitScene scene(kNever);
  std::atomic<bool> is_waiting = false;
  scene.start_leader("amy");
  Follower follower(scene, "bob", [&](timespec&) { is_waiting = true; });
  while (!is_waiting) std::this_thread::yield();
  scene.release();
  CHECK(follower.is_created_in_time());
}

TEST_CASE("one who is called to lead, but whose time is over, calls another", "[stores]") {
  CommitScene scene(kNever);
  std::atomic<bool> is_waiting = false;
  scene.start_leader("amy");
  Follower late(scene, "bob", [&](timespec& time) {
    while (!is_waiting) std::this_thread::yield();
    scene.release();
    while (scene.returned == 0) std::this_thread::yield();  // amy, who has called this one
    time.tv_sec += 3600;
  });
  scene.wait_for_waiting(1);  // so that this one is called first
  Follower follower(scene, "cid", [&](timespec&) { is_waiting = true; });
  CHECK(follower.is_created_in_time());
  CHECK_FALSE(late.is_created_in_time());
}

TEST_CASE("nobody takes the place of one who has left while the leader uses it", "[stores]") {
  CommitScene scene(kNever);
  std::atomic<bool> is_leading = false, may_take = false, is_taken = false, may_insert = false;
  scene.store.script.begin = [&] {
    is_leading = true;
    while (!may_take) std::this_thread::yield();
    return base::kDone;
  };
  scene.store.script.insert = [&](const Account& account) {
    if (account.user == "bob") is_taken = true;
    while (is_taken && !may_insert) std::this_thread::yield();
    return base::kDone;
  };
  scene.start("amy");
  while (!is_leading) std::this_thread::yield();
  Follower late(scene, "bob", [&](timespec& time) {
    may_take = true;
    while (!is_taken) std::this_thread::yield();
    time.tv_sec += 3600;
  });
  while (scene.returned == 0) std::this_thread::yield();  // bob
  Follower follower(scene, "cid", [&](timespec&) { may_insert = true; });
  CHECK(follower.is_created_in_time());
  CHECK_FALSE(late.is_created_in_time());
  CHECK(scene.outcomes() == Words{"OK"});
  CHECK(scene.store.has("bob"));
}
