// What becomes of a CommitQueue whose processes are killed.
#include "authserver/stores/commit_queue.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <vector>

#include "tests/authserver/stores/commit_queue_scene.h"
#include "tests/catch.h"

using namespace tests;

namespace {

// A process that leads, and is killed. Its transaction does nothing, and waits for ever in `where`.
pid_t fork_leader(CommitScene& scene, const std::atomic<bool>& may_take,
                  std::atomic<bool>& is_there, bool in_commit) {
  const pid_t child = ::fork();
  if (child != 0) return child;
  const auto stop_here = [&] {
    is_there = true;
    for (;;) ::pause();
  };
  scene.store.script.begin = [&]() -> base::Status {
    if (!in_commit) stop_here();
    is_there = true;
    while (!may_take) std::this_thread::yield();
    is_there = false;
    return base::kDone;
  };
  scene.store.script.commit = [&]() -> base::Status {
    stop_here();
    return base::kDone;
  };
  (void)scene.create("amy");
  ::_exit(1);
}

void end(pid_t child) {
  ::kill(child, SIGKILL);
  REQUIRE(::waitpid(child, nullptr, 0) == child);
}

}  // namespace

TEST_CASE("if the leader is killed in its transaction, nobody in it is told OK", "[stores]") {
  CommitScene scene;
  const serve::Shared<std::atomic<bool>> may_take;
  const serve::Shared<std::atomic<bool>> is_there;
  const pid_t child = fork_leader(scene, *may_take, *is_there, true);
  while (!*is_there) std::this_thread::yield();
  scene.start("bob");
  scene.start("cid");
  scene.wait_for_waiting(2);
  *may_take = true;
  scene.wait_for_waiting(0);
  while (!*is_there) std::this_thread::yield();  // in its commit
  scene.start("dan");
  scene.wait_for_waiting(1);
  end(child);
  CHECK(scene.outcomes() == Words{"unavailable", "unavailable", "OK"});
  CHECK(scene.create("bob"));
  CHECK_FALSE(scene.has_secret());
}

TEST_CASE("the next leader does not take over the transaction of one that was killed", "[stores]") {
  CommitScene scene;
  const serve::Shared<std::atomic<bool>> may_take;
  const serve::Shared<std::atomic<bool>> is_there;
  const pid_t leader = fork_leader(scene, *may_take, *is_there, true);
  while (!*is_there) std::this_thread::yield();
  const pid_t follower = ::fork();
  if (follower == 0) {
    const auto done = scene.create("bob");
    ::_exit(!done && done.error().code == ErrorCode::kUnavailable ? 0 : 1);
  }
  scene.wait_for_waiting(1);
  ::kill(follower, SIGSTOP);  // so that it does not lead
  REQUIRE(::waitpid(follower, nullptr, WUNTRACED) == follower);
  *may_take = true;
  scene.wait_for_waiting(0);
  while (!*is_there) std::this_thread::yield();  // in its commit
  end(leader);
  CHECK(scene.create("dan"));
  CHECK_FALSE(scene.store.has("bob"));
  ::kill(follower, SIGCONT);
  int status = 0;
  REQUIRE(::waitpid(follower, &status, 0) == follower);
  CHECK(status == 0);
}

TEST_CASE("if the leader is killed before its transaction, those who wait have another",
          "[stores]") {
  CommitScene scene;
  const serve::Shared<std::atomic<bool>> may_take;
  const serve::Shared<std::atomic<bool>> is_there;
  const pid_t child = fork_leader(scene, *may_take, *is_there, false);
  while (!*is_there) std::this_thread::yield();
  scene.start("bob");
  scene.start("cid");
  scene.wait_for_waiting(2);
  end(child);
  CHECK(scene.outcomes() == Words{"OK", "OK"});
}

TEST_CASE("the places of processes that were killed are used again", "[stores]") {
  constexpr std::size_t kChildren = 8;
  CommitScene scene;
  scene.start_leader("amy");
  std::vector<pid_t> children;
  for (std::size_t i = 0; i < kChildren; ++i) {
    children.push_back(::fork());
    if (children.back() == 0) {
      (void)scene.create("bob");
      ::_exit(1);
    }
  }
  scene.wait_for_waiting(kChildren);
  for (const pid_t child : children) end(child);
  for (std::size_t i = 0; i < CommitQueue::kMostWaiting; ++i)
    scene.start("user" + std::to_string(i));
  while (std::size_t{scene.queue->waiting()} < CommitQueue::kMostWaiting) std::this_thread::yield();
  scene.release();
  CHECK(scene.outcomes() == Words(1 + CommitQueue::kMostWaiting, "OK"));
  CHECK_FALSE(scene.store.has("bob"));
}

TEST_CASE("the queue is whole after processes were killed at any moment", "[stores]") {
  constexpr std::uint64_t kRounds = 40;
  CommitScene scene;
  const serve::Shared<std::atomic<std::uint64_t>> turns;
  for (std::uint64_t round = 0; round < kRounds; ++round) {
    std::vector<pid_t> children(4);
    for (pid_t& child : children) {
      child = ::fork();
      if (child != 0) continue;
      scene.store.script.insert = [&](const Account&) {
        ++*turns;
        return base::kDone;
      };
      for (;;) (void)scene.create("amy");
    }
    const std::uint64_t until = *turns + 7 * round;  // so they are killed at different moments
    while (*turns < until) std::this_thread::yield();
    for (const pid_t child : children) end(child);
  }
  CHECK(scene.create("bob"));
  scene.start_leader("cid");
  for (std::size_t i = 0; i < CommitQueue::kMostWaiting; ++i)
    scene.start("user" + std::to_string(i));
  scene.wait_for_waiting(CommitQueue::kMostWaiting);
  scene.release();
  CHECK(scene.outcomes() == Words(1 + CommitQueue::kMostWaiting, "OK"));
}
