#include "serve/acceptor.h"

#include <fcntl.h>
#include <sys/resource.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <limits>
#include <new>
#include <system_error>

#include "base/clock.h"
#include "base/log.h"
#include "net/socket_io.h"
#include "telemetry/counters.h"

namespace serve {

namespace {

int descriptor_limit() {
  rlimit limit{};
  ::getrlimit(RLIMIT_NOFILE, &limit);
  return static_cast<int>(std::min<rlim_t>(limit.rlim_cur, std::numeric_limits<int>::max()));
}

}  // namespace

Acceptor::Acceptor(net::Listener listener)
    : listener_(std::move(listener)),
      limit_(descriptor_limit()),
      first_kept_(limit_ - std::min(kKeptDescriptors, limit_ / 4)) {}

std::optional<Arrival> Acceptor::next() {
  while (!is_stopped_) {
    net::Accepted accepted = net::accept_from(listener_.fd.get());
    switch (accepted.verdict) {
      case net::AcceptVerdict::kAccepted:
        if (is_out_of_resources_.load(std::memory_order_relaxed)) is_out_of_resources_ = false;
        return Arrival{std::move(accepted.fd), accepted.peer};
      case net::AcceptVerdict::kTryAgain: break;
      case net::AcceptVerdict::kOutOfResources: wait_for_resources(accepted.errno_value); break;
      case net::AcceptVerdict::kListenerGone: return {};
    }
  }
  return {};
}

// The kernel gives the lowest descriptor that is free, but a thread that sleeps in accept() got its
// one when it began to. So a high one does not mean that the lower ones are still in use.
bool Acceptor::has_room_for(net::Fd& fd) {
  if (fd.get() < first_kept_) return true;
  net::Fd lowest(::fcntl(fd.get(), F_DUPFD_CLOEXEC, 0));
  if (lowest.is_open() && lowest.get() < first_kept_) {
    fd = std::move(lowest);
    return true;
  }
  if (!has_told_of_limit_.exchange(true)) {
    base::log::warn("few descriptors are left, further connections are busy limit={} hint=\"{}\"",
                    limit_, "ulimit -n");
  }
  return false;
}

void Acceptor::stop() {
  is_stopped_ = true;
  ::shutdown(listener_.fd.get(), SHUT_RD);
}

// next() checks is_stopped_ as well, because without descriptors accept() does not even notice that
// the listener was shut down.
void Acceptor::wait_for_resources(int errno_value) {
  constexpr int kWaitMs = 100;
  if (!is_out_of_resources_.exchange(true)) {
    base::log::error("cannot accept, connections wait in the queue reason=\"{}\"",
                     std::generic_category().message(errno_value));
  }
  base::pause_ms(kWaitMs);
}

void refuse(net::Fd fd, std::string (*answer)()) {
  telemetry::add(telemetry::Count::kConnectionsRefused);
  std::string text;
  try {
    text = answer();
  } catch (const std::bad_alloc&) {
    return;
  }
  // A new socket has room for it, if the system has memory; who accepts does not wait for that. If
  // unread bytes were left, close() would reset the connection before the peer reads it. So they
  // are discarded first.
  net::send_now(fd.get(), text);
  ::shutdown(fd.get(), SHUT_WR);
  std::array<char, 4096> discarded;
  net::receive_now(fd.get(), discarded);
}

}  // namespace serve
