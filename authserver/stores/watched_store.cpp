#include "authserver/stores/watched_store.h"

#include "authserver/stores/commit_queue.h"
#include "authserver/stores/retry.h"

namespace authserver {

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

}  // namespace authserver
