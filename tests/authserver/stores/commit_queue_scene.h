// A CommitQueue on a store in memory, for the tests of both: those who wait, and those who are
// killed.
#pragma once

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <mutex>
#include <new>
#include <set>
#include <string>
#include <string_view>
#include <thread>
#include <vector>

#include "authserver/stores/commit_queue.h"
#include "base/clock.h"
#include "serve/shared_memory.h"
#include "tests/catch.h"

namespace tests {

using authserver::Account;
using authserver::AccountTransaction;
using authserver::CommitQueue;
using base::ErrorCode;
using Words = std::vector<std::string>;

constexpr char kSecret[] = "$plain$correct horse battery staple";

inline std::int64_t soon() { return base::now_ns() + 20 * base::kNsPerMs; }
inline std::int64_t later() { return base::now_ns() + 60 * base::kNsPerS; }

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
class CommitScene {
 public:
  explicit CommitScene(std::int64_t look_every_ns = CommitQueue::kLookEveryNs)
      : queue(std::in_place, look_every_ns) {}
  ~CommitScene() { join(); }

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
      const std::string outcome = outcome_of(user, deadline_ns);
      const std::lock_guard lock(mutex_);
      words_.resize(std::max(words_.size(), index + 1));
      words_[index] = outcome;
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
  std::string outcome_of(const std::string& user, std::int64_t deadline_ns) {
    try {
      const auto done = create(user, deadline_ns);
      return done ? "OK" : word(done.error().code);
    } catch (const std::bad_alloc&) {
      return "thrown";
    }
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

}  // namespace tests
