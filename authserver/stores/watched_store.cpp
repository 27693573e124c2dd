#include "authserver/stores/watched_store.h"

#include "authserver/stores/retry.h"

namespace authserver {

// A thread that still waits after an earlier failure has not asked the store. Another thread may
// have reached it meanwhile.
void WatchedStore::note_failure(const base::Error& error, std::int64_t began_ns) {
  if (was_not_asked(error)) return;
  outage_.note_failure({"the store", where_}, error.context, began_ns);
}

}  // namespace authserver
