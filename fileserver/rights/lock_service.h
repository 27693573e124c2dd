// Tells the owner of the host which locks there are, and ends some: the other end of lock_client.h.
//
// The socket is an abstract one (net/abstract_socket.h), so it is no port and no file. Whoever is
// neither root nor the user of the server is told nothing.
#pragma once

#include <atomic>
#include <string>
#include <string_view>
#include <thread>

#include "base/clock.h"
#include "fileserver/rights/locks.h"
#include "net/fd.h"

namespace fileserver {

// The names of the sockets begin so. The rest is random, so that nobody takes one beforehand.
inline constexpr std::string_view kLockServicePrefix = "turnstile-fileserver-";

// A request is one of these lines. What is behind "end " is a token, or the path of a lock.
inline constexpr std::string_view kListLocks = "list";
inline constexpr std::string_view kEndLocks = "end ";

// The answer has a line for each lock that is there, or that was ended. The last line is this one.
inline constexpr std::string_view kEndOfLocks = ".";

// Opens the socket of a service. To be called before the sandbox, as the user of the server. If it
// cannot, this is logged, and there is none.
net::Fd open_for_locks();

// Answers in a thread of its own, one request after another, each within a time.
class LockService {
 public:
  // `locks` must outlive the service. Throws std::exception if there can be no thread.
  LockService(net::Fd listener, Locks& locks);

  // Ends an answer under way.
  ~LockService();
  LockService(const LockService&) = delete;
  LockService& operator=(const LockService&) = delete;

 private:
  class Visit;
  void run();
  void answer(Visit& visit);
  bool has_ended(const Lock& lock);
  bool wait(int fd, short events, base::Deadline deadline) const;

  const net::Fd listener_;
  Locks& locks_;
  const net::Fd stop_;  // an eventfd
  std::atomic<bool> is_stopped_ = false;
  std::thread thread_;
};

// The lock as a line of the answer, without its end: token, scope, depth, time left, user and path.
std::string line_of(const Lock& lock, std::int64_t now_ns);

}  // namespace fileserver
