#include "authserver/stores/watched_store.h"

#include <new>

#include "authserver/stores/retry.h"
#include "tests/catch.h"

using namespace authserver;
using base::ErrorCode;

namespace {

// Answers each request as a test says.
class CountedStore : public AccountStore {
 public:
  explicit CountedStore(base::Status& answer) : answer_(answer) {}

  base::Status create(const Account&) override { return answer_; }
  base::Status replace(const Account&) override { return answer_; }
  base::Status remove(std::string_view) override { return answer_; }
  base::Status replace_if(const Account&, std::string_view) override { return answer_; }
  base::Result<std::string> find_record(std::string_view) override {
    if (is_out_of_memory) throw std::bad_alloc();
    return answer_ ? base::Result<std::string>("record") : answer_.error();
  }
  base::Status ping() override { return answer_; }
  base::Status for_each(const std::function<void(const Account&)>&) override { return answer_; }
  bool is_connected() const override { return is_still_connected; }
  void disconnect() override { ++disconnects; }

  static inline bool is_out_of_memory = false;
  static inline int disconnects = 0;
  static inline bool is_still_connected = false;

 private:
  base::Status& answer_;
};

struct Setup {
  // Whether the log counts the store as unreachable after a look-up with this outcome.
  bool is_unreachable_after(base::Status outcome) {
    answer = std::move(outcome);
    (void)store.find_record("amy");
    return outages.all.is_on();
  }

  // The same for changes.
  bool takes_no_changes_after(base::Status outcome) {
    answer = std::move(outcome);
    (void)store.create({"amy", "record"});
    return outages.changes.is_on();
  }

  base::Status answer = base::kDone;
  StoreOutages outages;
  WatchedStore store{std::make_unique<CountedStore>(answer), "a test", outages};
};

const base::Error kDown{ErrorCode::kUnavailable, "connection refused"};

}  // namespace

TEST_CASE("a store is unreachable after a failure and reachable after an answer", "[stores]") {
  Setup setup;
  CHECK_FALSE(setup.is_unreachable_after(base::kDone));
  CHECK(setup.is_unreachable_after(kDown));
  CHECK(setup.is_unreachable_after(kDown));
  CHECK_FALSE(setup.is_unreachable_after(base::kDone));
}

TEST_CASE("a store that refuses a request is reachable", "[stores]") {
  for (const ErrorCode code : {ErrorCode::kNotFound, ErrorCode::kExists, ErrorCode::kInternal}) {
    Setup setup;
    CHECK_FALSE(setup.is_unreachable_after(base::Error{code, "refused"}));
    CHECK(setup.is_unreachable_after(kDown));
    CHECK_FALSE(setup.is_unreachable_after(base::Error{code, "refused"}));
  }
}

TEST_CASE("a request for which the store was not asked says nothing about it", "[stores]") {
  Setup setup;
  CHECK_FALSE(setup.is_unreachable_after(waiting_after_failure("redis")));
  CHECK(setup.is_unreachable_after(kDown));
  CHECK(setup.is_unreachable_after(waiting_after_failure("redis")));
}

TEST_CASE("a look-up of several users is reported, too", "[stores]") {
  Setup setup;
  const std::vector<std::string_view> users = {"amy", "bob"};
  setup.answer = kDown;
  (void)setup.store.find_records(users);
  CHECK(setup.outages.all.is_on());
  setup.answer = base::kDone;
  (void)setup.store.find_records(users);
  CHECK_FALSE(setup.outages.all.is_on());
}

TEST_CASE("an allocation that fails while the store is asked closes its connection", "[stores]") {
  Setup setup;
  const std::vector<std::string_view> users = {"amy", "bob"};
  CountedStore::disconnects = 0;
  CHECK_FALSE(setup.is_unreachable_after(base::kDone));
  CHECK(CountedStore::disconnects == 0);
  CountedStore::is_out_of_memory = true;
  CHECK_THROWS_AS(setup.store.find_record("amy"), std::bad_alloc);
  CHECK(CountedStore::disconnects == 1);
  CHECK_THROWS_AS(setup.store.find_records(users), std::bad_alloc);
  CHECK(CountedStore::disconnects == 2);
  CountedStore::is_out_of_memory = false;
}

TEST_CASE("a store that only takes no changes is not unreachable, and look-ups do not end that",
          "[stores]") {
  Setup setup;
  CountedStore::is_still_connected = true;
  // Of one that was not the leader of its transaction.
  CHECK_FALSE(setup.takes_no_changes_after(
      base::Error{ErrorCode::kUnavailable, "the transaction of several accounts failed"}));
  CHECK(setup.takes_no_changes_after(base::Error{ErrorCode::kUnavailable, "disk is full"}));
  CountedStore::is_still_connected = false;
  CHECK_FALSE(setup.outages.all.is_on());
  CHECK_FALSE(setup.is_unreachable_after(base::kDone));
  CHECK(setup.outages.changes.is_on());
  CHECK_FALSE(setup.takes_no_changes_after(base::kDone));
}
