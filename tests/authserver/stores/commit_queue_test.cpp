#include "authserver/stores/commit_queue.h"

#include <algorithm>
#include <new>

#include "tests/authserver/stores/commit_queue_scene.h"
#include "tests/catch.h"

using namespace tests;

TEST_CASE("those who wait for a commit share the next one", "[stores]") {
  CommitScene scene;
  scene.start_leader("amy");
  for (const char* user : {"bob", "cid", "dan"}) scene.start(user);
  scene.wait_for_waiting(3);
  scene.release();
  CHECK(scene.outcomes() == Words(4, "OK"));
  CHECK(scene.store.sizes() == std::vector<std::size_t>{1, 3});
  CHECK_FALSE(scene.has_secret());
}

TEST_CASE("one who is alone commits at once", "[stores]") {
  CommitScene scene;
  CHECK(scene.create("amy"));
  CHECK(scene.create("amy").error().code == ErrorCode::kExists);
  CHECK(scene.create("bob"));
  CHECK(scene.store.sizes() == std::vector<std::size_t>{1, 0, 1});
}

TEST_CASE("a name that is taken refuses only its own account of a shared commit", "[stores]") {
  CommitScene scene;
  scene.start_leader("amy");
  for (const char* user : {"amy", "bob", "bob", "cid"}) scene.start(user);
  scene.wait_for_waiting(4);
  scene.release();
  auto outcomes = scene.outcomes();
  CHECK(outcomes[1] == "exists");
  CHECK(outcomes[4] == "OK");
  std::sort(outcomes.begin(), outcomes.end());
  CHECK(outcomes == Words{"OK", "OK", "OK", "exists", "exists"});
  CHECK(scene.store.sizes() == std::vector<std::size_t>{1, 2});
}

TEST_CASE("nobody has an answer before the commit has succeeded", "[stores]") {
  CommitScene scene;
  std::atomic<int> returned = 0;
  scene.start_leader("amy", [&] {
    while (scene.returned == 0) std::this_thread::yield();  // the one who was alone
    base::pause_ms(200);  // those who wait look for an answer more often
    returned = scene.returned.load();
    return base::kDone;
  });
  for (const char* user : {"bob", "cid", "bob"}) scene.start(user);
  scene.wait_for_waiting(3);
  scene.release();
  CHECK(scene.outcomes().size() == 4);
  CHECK(returned == 1);
}

TEST_CASE("if a commit fails, all who share it are told so", "[stores]") {
  for (const ErrorCode code : {ErrorCode::kUnavailable, ErrorCode::kInternal}) {
    CommitScene scene;
    scene.start_leader("amy", [code] { return base::Error{code, "the disk is full"}; });
    for (const char* user : {"amy", "bob", "bob", "cid"}) scene.start(user);
    scene.wait_for_waiting(4);
    scene.release();
    const std::string word = code == ErrorCode::kInternal ? "internal" : "unavailable";
    CHECK(scene.outcomes() == Words{"OK", word, word, word, word});
    CHECK(scene.store.under_way == 0);
    CHECK_FALSE(scene.store.has("bob"));
  }
}

TEST_CASE("if an account cannot be inserted, the whole transaction is cancelled", "[stores]") {
  CommitScene scene;
  scene.store.script.insert = [](const Account& account) -> base::Status {
    if (account.user != "dan") return base::kDone;
    return base::Error{ErrorCode::kUnavailable, "the disk is full"};
  };
  scene.start_leader("amy");
  for (const char* user : {"bob", "cid", "dan"}) scene.start(user);
  scene.wait_for_waiting(3);
  scene.release();
  CHECK(scene.outcomes() == Words{"OK", "unavailable", "unavailable", "unavailable"});
  CHECK(scene.store.sizes() == std::vector<std::size_t>{1});
  CHECK(scene.create("bob"));
}

TEST_CASE("an allocation that fails in a transaction cancels it, and all in it are told so",
          "[stores]") {
  CommitScene scene;
  scene.store.script.insert = [](const Account& account) -> base::Status {
    if (account.user == "dan") throw std::bad_alloc();
    return base::kDone;
  };
  scene.start_leader("amy");
  for (const char* user : {"bob", "cid", "dan"}) scene.start(user);
  scene.wait_for_waiting(3);
  scene.release();
  const auto outcomes = scene.outcomes();
  CHECK(std::count(outcomes.begin(), outcomes.end(), "thrown") == 1);  // of the one who led
  CHECK(std::count(outcomes.begin(), outcomes.end(), "unavailable") == 2);
  CHECK(scene.store.under_way == 0);
  CHECK(scene.create("bob"));
  CHECK_FALSE(scene.has_secret());
}

TEST_CASE("if no transaction can begin, only the one who tried is told so", "[stores]") {
  CommitScene scene;
  std::atomic<int> begun = 0;
  scene.store.script.begin = [&]() -> base::Status {
    if (++begun != 2) return base::kDone;
    return base::Error{ErrorCode::kUnavailable, "locked"};
  };
  scene.start_leader("amy");
  for (const char* user : {"bob", "cid", "dan"}) scene.start(user);
  scene.wait_for_waiting(3);
  scene.release();
  auto outcomes = scene.outcomes();
  CHECK(std::count(outcomes.begin(), outcomes.end(), "OK") == 3);
  CHECK(scene.store.sizes() == std::vector<std::size_t>{1, 2});
}

TEST_CASE("one whose deadline passes while it waits is unavailable, and is not created",
          "[stores]") {
  CommitScene scene;
  scene.start_leader("amy");
  CHECK(scene.create("bob", soon()).error().code == ErrorCode::kUnavailable);
  CHECK(scene.queue->waiting() == 0);
  CHECK_FALSE(scene.has_secret());
  scene.start("cid");
  scene.wait_for_waiting(1);
  scene.release();
  CHECK(scene.outcomes() == Words{"OK", "OK"});
  CHECK_FALSE(scene.store.has("bob"));
}

TEST_CASE("one whose deadline passes in a transaction leaves its bytes to the leader", "[stores]") {
  CommitScene scene;
  scene.store.script.insert = [&](const Account& account) {
    const bool is_second = account.user != "amy";
    while (is_second && scene.returned < 2) std::this_thread::yield();  // amy, and who leaves
    return base::kDone;
  };
  scene.start_leader("amy");
  // Both have to wait before it passes, on a busy machine too.
  const std::int64_t deadline_ns = base::now_ns() + 3'000 * base::kNsPerMs;
  scene.start("bob", deadline_ns);  // one of these two leads
  scene.start("cid", deadline_ns);
  scene.wait_for_waiting(2);
  scene.release();
  const auto outcomes = scene.outcomes();
  CHECK(outcomes[0] == "OK");
  const auto left = std::count(outcomes.begin(), outcomes.end(), "unavailable");
  CHECK(left >= 1);
  if (left == 1) CHECK((scene.store.has("bob") && scene.store.has("cid")));
  CHECK_FALSE(scene.has_secret());
  CHECK(scene.create("dan"));
}

TEST_CASE("a transaction has a bound, and so has the queue; all have their turn", "[stores]") {
  constexpr std::size_t kMore = 8;  // than may wait
  CommitScene scene;
  scene.start_leader("amy");
  for (std::size_t i = 0; i < CommitQueue::kMostWaiting + kMore; ++i)
    scene.start("user" + std::to_string(i));
  scene.wait_for_waiting(CommitQueue::kMostWaiting);
  scene.release();
  CHECK(scene.outcomes() == Words(1 + CommitQueue::kMostWaiting + kMore, "OK"));
  const auto sizes = scene.store.sizes();
  CHECK(*std::max_element(sizes.begin(), sizes.end()) == CommitQueue::kMostTogether);
}

TEST_CASE("nobody in the commit queue is overtaken by those who come later", "[stores]") {
  constexpr std::size_t kLater = 100;
  static_assert(CommitQueue::kMostWaiting == 2 * CommitQueue::kMostTogether);
  CommitScene scene;
  std::atomic<int> begun = 0;
  std::atomic<bool> are_later_there = false;
  std::atomic<std::size_t> early_there = 0;
  scene.store.script.begin = [&]() -> base::Status {
    const int number = ++begun;
    while (number == 3 && !are_later_there) std::this_thread::yield();
    for (std::size_t i = 0; number == 4 && i < CommitQueue::kMostWaiting; ++i)
      early_there += scene.store.has("early" + std::to_string(i)) ? 1 : 0;
    return base::kDone;
  };
  scene.start_leader("amy");
  for (std::size_t i = 0; i < CommitQueue::kMostWaiting; ++i)
    scene.start("early" + std::to_string(i));
  scene.wait_for_waiting(CommitQueue::kMostWaiting);
  scene.release();
  while (begun < 3) std::this_thread::yield();
  scene.wait_for_waiting(CommitQueue::kMostTogether - 1);  // without the leader
  for (std::size_t i = 0; i < kLater; ++i) scene.start("later" + std::to_string(i));
  scene.wait_for_waiting(CommitQueue::kMostTogether - 1 + kLater);
  are_later_there = true;
  CHECK(scene.outcomes() == Words(1 + CommitQueue::kMostWaiting + kLater, "OK"));
  CHECK(early_there + 2 >= CommitQueue::kMostWaiting);  // two leaders left places among them
}

TEST_CASE("a record that is too long for the queue is committed alone", "[stores]") {
  CommitScene scene;
  FakeTransaction transaction(scene.store);
  const std::string record(CommitQueue::kMostRecordBytes + 1, 'r');
  scene.start_leader("amy");
  std::atomic<bool> has_left = false;
  bool is_created = false;
  std::thread bob([&] {
    is_created = scene.queue->create({"bob", record}, transaction, soon()).ok();
    has_left = true;
  });
  std::size_t most_waiting = 0;
  while (!has_left) most_waiting = std::max(most_waiting, scene.queue->waiting());
  bob.join();
  CHECK_FALSE(is_created);
  CHECK(most_waiting == 0);  // its place would have no room for the record
  scene.release();
  CHECK(scene.queue->create({"bob", record}, transaction, later()));
}
