// Tells the health to this host when all places of --max-connections are taken, so that nobody who
// watches the server takes a full one for a dead one.
#pragma once

#include <functional>
#include <memory>
#include <thread>

#include "base/mutex.h"
#include "serve/acceptor.h"
#include "telemetry/endpoint.h"

namespace fileserver {

// Starts two threads with the first connection that it takes.
class HealthBeyondLimit {
 public:
  // See telemetry::Source.
  explicit HealthBeyondLimit(std::function<bool()> is_healthy);
  ~HealthBeyondLimit();
  HealthBeyondLimit(const HealthBeyondLimit&) = delete;
  HealthBeyondLimit& operator=(const HealthBeyondLimit&) = delete;

  // Takes a connection that has no place: it gets one answer, to /-/health or /-/live, or that the
  // server is busy. Returns false if one is to be refused: this one, whose peer is on another host,
  // or the oldest that was taken before, which it leaves in `arrival`. Never waits. Threads: any.
  bool take(serve::Arrival& arrival) EXCLUDES(mutex_);

 private:
  bool has_started() REQUIRES(mutex_);

  const std::function<bool()> is_healthy_;
  base::Mutex mutex_;
  std::unique_ptr<telemetry::Endpoint> endpoint_ GUARDED_BY(mutex_);
  std::thread thread_ GUARDED_BY(mutex_);
};

}  // namespace fileserver
