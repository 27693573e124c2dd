// Connects to the authserver, by any of the addresses that --auth stands for.
#pragma once

#include <atomic>
#include <memory>
#include <string_view>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "base/outage.h"
#include "base/result.h"
#include "net/address.h"
#include "net/resolved_name.h"
#include "tls/client_context.h"
#include "tls/socket.h"

namespace fileserver {

// A new connection, and the address of the authserver at its other end.
struct AuthLink {
  tls::Socket socket;
  net::SocketAddress address;
};

// Any thread. The host name of --auth may have several addresses, each an authserver.
//
// Connections go round robin over all addresses. An address that fails, or accepts but does not
// answer, is skipped for one second; then one caller tries it again. net::ResolvedName looks the
// name up; it is told when all addresses fail.
//
// An address that becomes unreachable is logged once, and once more when it is back (base::Outage).
// So is a name that cannot be resolved while no address is known.
class AuthAddresses {
 public:
  // Whether outages are logged. kOff is for health checks, so that no outage is logged twice.
  enum class OutageLog { kOn, kOff };

  using Resolver = net::ResolvedName::Resolver;

  // net::ResolvedName says how `resolver` is used. `encryption` must outlive it; null: in clear.
  explicit AuthAddresses(net::HostPort name, Resolver resolver = net::resolve,
                         OutageLog outage_log = OutageLog::kOn,
                         tls::ClientContext* encryption = nullptr);

  // Connects to one of the addresses, and encrypts the connection if it is to be. No blocking call
  // on it takes longer than `timeout_ms`. kUnavailable when no address accepted before the
  // deadline, or the name was not resolved by then. `deadline` must not be Deadline::never().
  base::Result<AuthLink> connect(std::int64_t timeout_ms, base::Deadline deadline);

  // The authserver at this address answered. Costs one relaxed load while all_are_well().
  void note_answer(const net::SocketAddress& address) EXCLUDES(mutex_);

  // It did not answer a request that was begun at `began_ns`, so it is skipped and counts as
  // unreachable.
  void note_no_answer(const net::SocketAddress& address, std::string_view reason,
                      std::int64_t began_ns) EXCLUDES(mutex_);

  // Skips the address for a second, without a word in the log.
  void skip(const net::SocketAddress& address) EXCLUDES(mutex_);

  // Whether no address is skipped or unreachable. One relaxed load.
  bool all_are_well() const { return !has_trouble_.load(std::memory_order_relaxed); }

  // How many addresses are known now. One relaxed load.
  std::size_t count() const { return count_.load(std::memory_order_relaxed); }

 private:
  struct Known {
    net::SocketAddress address;
    std::int64_t skipped_until_ns = 0;  // 0: the last attempt succeeded, or there was none yet
    // Shared with callers that log after they released the mutex.
    std::shared_ptr<base::Outage> outage = std::make_shared<base::Outage>();
  };
  net::ResolvedName::Found look_up(base::Deadline deadline, std::int64_t began_ns);
  void take_over(const std::vector<net::SocketAddress>& found) REQUIRES(mutex_);
  std::vector<net::SocketAddress> in_order_of_trial(const std::vector<net::SocketAddress>& found)
      EXCLUDES(mutex_);
  std::shared_ptr<base::Outage> set_skipped(const net::SocketAddress& address,
                                            std::int64_t until_ns) EXCLUDES(mutex_);
  void look_for_trouble() EXCLUDES(mutex_);
  Known* find(const net::SocketAddress& address) REQUIRES(mutex_);
  bool all_are_skipped() REQUIRES(mutex_);

  base::Result<tls::Socket> connect_to(const net::SocketAddress& address, std::int64_t timeout_ms,
                                       std::int64_t share_ms);

  const OutageLog outage_log_;
  tls::ClientContext* const encryption_;  // null: in clear

  // Relaxed: it decides only whether an answer is reported. Written while mutex_ is held.
  std::atomic<bool> has_trouble_ = false;
  std::atomic<std::size_t> count_ = 0;  // of known_; written while mutex_ is held
  base::Outage look_up_outage_;
  net::ResolvedName name_;

  base::Mutex mutex_;
  std::vector<Known> known_ GUARDED_BY(mutex_);
  std::size_t next_ GUARDED_BY(mutex_) = 0;  // where the next round robin starts
};

}  // namespace fileserver
