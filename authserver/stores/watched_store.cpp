#include "authserver/stores/watched_store.h"

#include <utility>

#include "authserver/stores/commit_queue.h"
#include "authserver/stores/retry.h"
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
  base::Status replace_if(const Account& account, std::string_view before) override {
    return store_->replace_if(account, before);
  }

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

// A thread that still waits after an earlier failure has not asked the store. Another thread may
// have reached it meanwhile.
void WatchedStore::note_failure(const base::Error& error, std::int64_t began_ns) {
  if (was_not_asked(error)) return;
  outages_.all.note_failure({"the store", where_}, error.context, began_ns);
}

// The leader of a transaction tells why it failed. The others in it do not know. A name that is
// taken does not show that the store takes changes.
void WatchedStore::note_change(const base::Status& changed, std::int64_t began_ns) {
  const base::Outage::Subject subject{"the store", where_, "takes no changes of accounts",
                                      "takes changes of accounts again"};
  if (changed || changed.error().code != base::ErrorCode::kUnavailable) {
    if (changed) outages_.changes.note_success(subject);
    outages_.all.note_success({"the store", where_});
  } else if (!store_->is_connected()) {
    note_failure(changed.error(), began_ns);
  } else if (!was_failed_by_leader(changed.error())) {
    outages_.changes.note_failure(subject, changed.error().context, began_ns);
  }
}

std::unique_ptr<AccountStore> timed(std::unique_ptr<AccountStore> store) {
  return std::make_unique<TimedStore>(std::move(store));
}

}  // namespace authserver
