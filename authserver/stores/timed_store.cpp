#include "authserver/stores/timed_store.h"

#include <utility>

#include "base/clock.h"
#include "telemetry/counters.h"

namespace authserver {

namespace {

using telemetry::Stopwatch;
using telemetry::Timed;

class TimedStore : public AccountStore {
 public:
  explicit TimedStore(std::unique_ptr<AccountStore> store) : store_(std::move(store)) {}

  base::Status create(const Account& account) override {
    const Stopwatch watch(Timed::kStoreCreate);
    return store_->create(account);
  }

  base::Status replace(const Account& account) override { return store_->replace(account); }
  base::Status remove(std::string_view user) override { return store_->remove(user); }

  base::Result<std::string> find_record(std::string_view user) override {
    const Stopwatch watch(Timed::kStoreFind);
    return store_->find_record(user);
  }

  // Each user counts as one operation, which takes as long as all together.
  std::vector<base::Result<std::string>> find_records(
      std::span<const std::string_view> users) override {
    const std::int64_t began_ns = base::now_ns();
    auto records = store_->find_records(users);
    const std::int64_t took_ns = base::now_ns() - began_ns;
    for (std::size_t i = 0; i < users.size() && telemetry::is_on(); ++i)
      telemetry::record(Timed::kStoreFind, took_ns);
    return records;
  }

  base::Status ping() override {
    const Stopwatch watch(Timed::kStorePing);
    return store_->ping();
  }

  base::Status for_each(const std::function<void(const Account&)>& visit) override {
    return store_->for_each(visit);
  }

  void disconnect() override { store_->disconnect(); }

 private:
  const std::unique_ptr<AccountStore> store_;
};

}  // namespace

std::unique_ptr<AccountStore> timed(std::unique_ptr<AccountStore> store) {
  return std::make_unique<TimedStore>(std::move(store));
}

}  // namespace authserver
