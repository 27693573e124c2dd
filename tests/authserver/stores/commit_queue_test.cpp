#include "authserver/stores/commit_queue.h"

#include <signal.h>
#include <sys/wait.h>
#include <unistd.h>

#include <algorithm>
#include <functional>
#include <mutex>
#include <set>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "serve/shared_memory.h"
#include "tests/catch.h"

using namespace authserver;
using base::ErrorCode;

namespace {

constexpr char kSecret[] = "$plain$correct horse battery staple";

std::int64_t soon() { return base::now_ns() + 20 * base::kNsPerMs; }
std::int64_t later() { return base::now_ns() + 60 * base::kNsPerS; }

// What a test says a transaction shall do.
struct Script {
  std::function<base::Status()> begin = [] { return base::kDone; };
  std::function<base::Status(const Account&)> insert = [](const Account&) { return base::kDone; };
  std::function<base::Status()> commit = [] { return base::kDone; };
};

// A store in memory. Any thread.
class FakeStore {
 public:
  Script script;

  std::vector<std::size_t> sizes() const {
    const std::lock_guard lock(mutex_);
    return sizes_;
  }
  bool has(const std::string& user) const {
    const std::lock_guard lock(mutex_);
    return users_.contains(user);
  }
  void commit(const std::set<std::string>& users) {
    const std::lock_guard lock(mutex_);
    users_.insert(users.begin(), users.end());
    sizes_.push_back(users.size());
  }
  std::atomic<int> under_way = 0;  // transactions

 private:
  mutable std::mutex mutex_;
  std::set<std::string> users_;
  std::vector<std::size_t> sizes_;  // accounts in each transaction
};

class FakeTransaction : public AccountTransaction {
 public:
  explicit FakeTransaction(FakeStore& store) : store_(store) {}

  base::Status begin(std::int64_t) override {
    auto begun = store_.script.begin();
    if (begun && ++store_.under_way != 1) FAIL("two transactions at the same time");
    return begun;
  }
  base::Status insert(const Account& account) override {
    const std::string user(account.user);
    if (auto done = store_.script.insert(account); !done) return done;
    if (store_.has(user) || !users_.insert(user).second)
      return base::Error{ErrorCode::kExists, "the user exists"};
    return base::kDone;
  }
  base::Status commit() override {
    if (auto done = store_.script.commit(); !done) return done;
    store_.commit(users_);
    end();
    return base::kDone;
  }
  void cancel() override { end(); }

 private:
  void end() {
    users_.clear();
    --store_.under_way;
  }

  FakeStore& store_;
  std::set<std::string> users_;
};

// A queue on a store in memory, and threads that create accounts.
class Scene {
 public:
  ~Scene() { join(); }

  base::Status create(const std::string& user, std::int64_t deadline_ns = later()) {
    FakeTransaction transaction(store);
    auto done = queue->create({user, kSecret}, transaction, deadline_ns);
    ++returned;
    return done;
  }

  // Creates an account in a thread of its own, whose commit waits for release(). `later_commit` is
  // what each further commit does.
  void start_leader(const std::string& user, std::function<base::Status()> later_commit) {
    store.script.commit = [this, later_commit = std::move(later_commit)]() -> base::Status {
      if (++commits > 1) return later_commit();
      while (!is_released) std::this_thread::yield();
      return base::kDone;
    };
    start(user);
    while (commits == 0) std::this_thread::yield();
  }
  void start_leader(const std::string& user) {
    start_leader(user, [] { return base::kDone; });
  }

  // The place of its outcome.
  std::size_t start(const std::string& user, std::int64_t deadline_ns = later()) {
    const std::size_t index = started_++;
    threads_.emplace_back([this, index, user, deadline_ns] {
      const auto done = create(user, deadline_ns);
      const std::lock_guard lock(mutex_);
      words_.resize(std::max(words_.size(), index + 1));
      words_[index] = done ? "OK" : word(done.error().code);
    });
    return index;
  }
  void wait_for_waiting(std::size_t count) const {
    while (queue->waiting() != count) std::this_thread::yield();
  }
  void release() { is_released = true; }

  // What became of each, in the order of their start.
  std::vector<std::string> outcomes() {
    join();
    return words_;
  }
  bool has_secret() const {
    const std::string_view bytes(reinterpret_cast<const char*>(&*queue), sizeof(CommitQueue));
    return bytes.find(kSecret) != std::string_view::npos;
  }

  FakeStore store;
  const serve::Shared<CommitQueue> queue;
  std::atomic<int> commits = 0;
  std::atomic<int> returned = 0;
  std::atomic<bool> is_released = false;

 private:
  static std::string word(ErrorCode code) {
    if (code == ErrorCode::kExists) return "exists";
    return code == ErrorCode::kUnavailable ? "unavailable" : "internal";
  }
  void join() {
    is_released = true;
    for (std::thread& thread : threads_) thread.join();
    threads_.clear();
  }

  std::size_t started_ = 0;
  std::vector<std::thread> threads_;
  std::mutex mutex_;
  std::vector<std::string> words_;
};

using Words = std::vector<std::string>;

}  // namespace

TEST_CASE("those who wait for a commit share the next one", "[stores]") {
  Scene scene;
  scene.start_leader("amy");
  for (const char* user : {"bob", "cid", "dan"}) scene.start(user);
  scene.wait_for_waiting(3);
  scene.release();
  CHECK(scene.outcomes() == Words(4, "OK"));
  CHECK(scene.store.sizes() == std::vector<std::size_t>{1, 3});
  CHECK_FALSE(scene.has_secret());
}

TEST_CASE("one who is alone commits at once", "[stores]") {
  Scene scene;
  CHECK(scene.create("amy"));
  CHECK(scene.create("amy").error().code == ErrorCode::kExists);
  CHECK(scene.create("bob"));
  CHECK(scene.store.sizes() == std::vector<std::size_t>{1, 0, 1});
}

TEST_CASE("a name that is taken refuses only its own account of a shared commit", "[stores]") {
  Scene scene;
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
  Scene scene;
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
    Scene scene;
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
  Scene scene;
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

TEST_CASE("if no transaction can begin, only the one who tried is told so", "[stores]") {
  Scene scene;
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
  Scene scene;
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
  Scene scene;
  scene.store.script.insert = [&](const Account& account) {
    const bool is_second = account.user != "amy";
    while (is_second && scene.returned < 2) std::this_thread::yield();  // amy, and who leaves
    return base::kDone;
  };
  scene.start_leader("amy");
  const std::int64_t deadline_ns = base::now_ns() + 500 * base::kNsPerMs;
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
  Scene scene;
  scene.start_leader("amy");
  for (std::size_t i = 0; i < CommitQueue::kMostWaiting + kMore; ++i)
    scene.start("user" + std::to_string(i));
  scene.wait_for_waiting(CommitQueue::kMostWaiting);
  scene.release();
  CHECK(scene.outcomes() == Words(1 + CommitQueue::kMostWaiting + kMore, "OK"));
  const auto sizes = scene.store.sizes();
  CHECK(*std::max_element(sizes.begin(), sizes.end()) == CommitQueue::kMostTogether);
}

TEST_CASE("a record that is too long for the queue is committed alone", "[stores]") {
  Scene scene;
  FakeTransaction transaction(scene.store);
  const std::string record(CommitQueue::kMostRecordBytes + 1, 'r');
  scene.start_leader("amy");
  CHECK_FALSE(scene.queue->create({"bob", record}, transaction, soon()));
  scene.release();
  CHECK(scene.queue->create({"bob", record}, transaction, later()));
}

namespace {

// A process that leads, and is killed. Its transaction does nothing, and waits for ever in `where`.
pid_t fork_leader(Scene& scene, const std::atomic<bool>& may_take, std::atomic<bool>& is_there,
                  bool in_commit) {
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
  Scene scene;
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

TEST_CASE("if the leader is killed before its transaction, those who wait have another",
          "[stores]") {
  Scene scene;
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
  Scene scene;
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
  Scene scene;
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
