// Tells the log when the store cannot be asked or takes no changes, and when that is over, and
// telemetry how long it took.
#pragma once

#include <functional>
#include <memory>
#include <string>
#include <string_view>
#include <utility>

#include "authserver/stores/account_store.h"
#include "base/clock.h"
#include "base/outage.h"

namespace authserver {

// Shared by all threads and processes. A store whose disk is full can be read. So an outage of
// changes is one of its own, and a look-up does not end it.
struct StoreOutages {
  base::Outage all;
  base::Outage changes;
};

// Reports what becomes of each request to the store. A request that the store refused, such as that
// of a name that is taken, was answered. One thread, as the store.
//
// If an allocation fails while the store is asked, its connection may hold the rest of an answer.
// The connection is closed then, so that no later request reads that rest.
class WatchedStore : public AccountStore {
 public:
  // `where` is what the log calls the store. `outages` must outlive this object.
  WatchedStore(std::unique_ptr<AccountStore> store, std::string where, StoreOutages& outages)
      : store_(std::move(store)), where_(std::move(where)), outages_(outages) {}

  base::Status create(const Account& account) override {
    return watch_change([&] { return store_->create(account); });
  }
  base::Status replace(const Account& account) override {
    return watch_change([&] { return store_->replace(account); });
  }
  base::Status remove(std::string_view user) override {
    return watch_change([&] { return store_->remove(user); });
  }
  base::Status replace_if(const Account& account, std::string_view before) override {
    return watch_change([&] { return store_->replace_if(account, before); });
  }
  base::Result<std::string> find_record(std::string_view user) override {
    return watch([&] { return store_->find_record(user); });
  }
  std::vector<base::Result<std::string>> find_records(
      std::span<const std::string_view> users) override {
    const std::int64_t began_ns = base::now_ns();
    CloseUnlessAnswered closing(*store_);
    auto records = store_->find_records(users);
    closing.answered();
    for (const auto& record : records) note(record, began_ns);
    return records;
  }
  base::Status ping() override {
    return watch([&] { return store_->ping(); });
  }
  base::Status for_each(const std::function<void(const Account&)>& visit) override {
    return watch([&] { return store_->for_each(visit); });
  }
  void disconnect() override { store_->disconnect(); }

 private:
  class CloseUnlessAnswered {
   public:
    explicit CloseUnlessAnswered(AccountStore& store) : store_(&store) {}
    ~CloseUnlessAnswered() {
      if (store_ != nullptr) store_->disconnect();
    }
    CloseUnlessAnswered(const CloseUnlessAnswered&) = delete;
    CloseUnlessAnswered& operator=(const CloseUnlessAnswered&) = delete;

    void answered() { store_ = nullptr; }

   private:
    AccountStore* store_;
  };

  template <typename Ask>
  auto watch(const Ask& ask) -> decltype(ask()) {
    const std::int64_t began_ns = base::now_ns();
    CloseUnlessAnswered closing(*store_);
    auto answer = ask();
    closing.answered();
    note(answer, began_ns);
    return answer;
  }

  template <typename Change>
  base::Status watch_change(const Change& change) {
    const std::int64_t began_ns = base::now_ns();
    CloseUnlessAnswered closing(*store_);
    auto changed = change();
    closing.answered();
    note_change(changed, began_ns);
    return changed;
  }

  void note_change(const base::Status& changed, std::int64_t began_ns);

  template <typename Answer>
  void note(const Answer& answer, std::int64_t began_ns) {
    if (answer || answer.error().code != base::ErrorCode::kUnavailable) {
      outages_.all.note_success({"the store", where_});
    } else {
      note_failure(answer.error(), began_ns);
    }
  }

  void note_failure(const base::Error& error, std::int64_t began_ns);

  const std::unique_ptr<AccountStore> store_;
  const std::string where_;
  StoreOutages& outages_;
};

// Returns a store that passes each call on to `store` and records its time, whether it succeeds or
// not (telemetry::Timed). It belongs to the same thread or process.
std::unique_ptr<AccountStore> timed(std::unique_ptr<AccountStore> store);

}  // namespace authserver
