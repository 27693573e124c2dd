// The addresses that a host name stands for, looked up without making anybody wait for too long.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/result.h"
#include "net/address.h"

namespace net {

// Any thread. A thread of its own looks the name up, because a name server may take longer than a
// caller wants to wait. There is at most one look-up at a time, which all callers share.
//
// The name is looked up again after five seconds, by the next call. Callers use the old addresses
// meanwhile. A numeric host is looked up once, by its first caller, and needs no thread. If no
// thread can be made for a name, the look-up has failed.
//
// The deadlines must not be Deadline::never().
class ResolvedName {
 public:
  using Found = base::Result<std::vector<SocketAddress>>;
  using Resolver = std::function<Found(const HostPort&)>;

  // `resolver` is called in a thread of its own, which may outlive this object. Tests pass one of
  // their own.
  explicit ResolvedName(HostPort name, Resolver resolver = resolve);

  // All addresses, at least one, in the order of the resolver. kUnavailable if none is known and
  // the look-up fails, or does not end before the deadline.
  Found addresses(base::Deadline deadline) EXCLUDES(mutex_);

  // The same, of a look-up that ended after this call began.
  Found fresh_addresses(base::Deadline deadline) EXCLUDES(mutex_);

  // To be called when no known address works. The next caller of addresses() looks the name up, and
  // waits for half of its time before it takes the old addresses. A look-up that is under way is
  // enough: then nobody waits for another one.
  void none_works() EXCLUDES(mutex_);

  const HostPort& name() const { return name_; }

 private:
  // One look-up, shared with its thread and with all that wait for it.
  class LookUp {
   public:
    void end(Found found) EXCLUDES(mutex_);

    // Nothing if it does not end before the deadline.
    std::optional<Found> found(base::Deadline deadline) EXCLUDES(mutex_);

   private:
    base::Mutex mutex_;
    base::Condition has_ended_;
    std::optional<Found> found_ GUARDED_BY(mutex_);
  };
  using SharedLookUp = std::shared_ptr<LookUp>;

  SharedLookUp start_look_up() REQUIRES(mutex_);
  void start_thread(const SharedLookUp& look_up) const;
  void take_look_up() REQUIRES(mutex_);
  bool is_due() const REQUIRES(mutex_);
  base::Error not_in_time() const;

  const HostPort name_;
  const bool is_numeric_;
  const Resolver resolver_;
  base::Mutex mutex_;
  std::vector<SocketAddress> known_ GUARDED_BY(mutex_);
  std::int64_t look_up_again_at_ns_ GUARDED_BY(mutex_) = 0;
  bool does_none_work_ GUARDED_BY(mutex_) = false;
  SharedLookUp look_up_ GUARDED_BY(mutex_);  // while one is under way
};

}  // namespace net
