// Sends requests to the authserver.
#pragma once

#include <cstdint>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "fileserver/auth_addresses.h"
#include "fileserver/config.h"
#include "fileserver/connection_shelf.h"
#include "wire/reply.h"
#include "wire/request.h"

namespace fileserver {

// Keeps connections to the authserver and lends each to one request at a time. A request that finds
// no idle connection makes a new one. A connection is closed instead of kept if anything about it
// is odd, so a late answer can never be taken for the answer to another request.
//
// Threads: any, at the same time. A request takes no lock.
class AuthClient {
 public:
  AuthClient(const net::HostPort& address, AuthConnection mode, std::int64_t timeout_ms,
             AuthAddresses::Resolver resolver = net::resolve,
             AuthAddresses::OutageLog outage_log = AuthAddresses::OutageLog::kOn)
      : addresses_(address, std::move(resolver), outage_log),
        mode_(mode),
        timeout_ms_(timeout_ms) {}

  // Each returns kDone if the authserver answered OK, otherwise the error that it answered, or:
  //
  // kSyntax, kInvalid: the credentials are not acceptable. The authserver was not asked.
  // kUnavailable: the authserver could not be reached, or did not answer within the time-out. A
  // `new` may have been carried out nevertheless.
  // kInternal: the peer does not speak the protocol.
  //
  // If a kept connection breaks before its answer, or has none within half of the time, `ping` and
  // `auth` are sent again on a new one. If that one has no answer within half of the time that is
  // left and --auth stands for several addresses, they are sent to another one. `new` is not
  // repeated, because it may have been carried out.
  base::Status ask(const wire::Ping& ping);
  base::Status ask(const wire::Auth& request);
  base::Status ask(const wire::New& request);

  // The result of one request on one connection.
  struct Outcome {
    enum class Kind {
      kAnswered,  // see `reply`
      kBroken,    // the connection ended before the answer began
      kCut,       // the connection ended in the middle of the answer
      kTimedOut,
      kNonsense,  // the answer is not a line of the protocol
    };
    Kind kind;
    wire::Reply reply = wire::NotAReply{};
    bool is_reusable = false;  // nothing followed the answer
  };

 private:
  enum class Repeat { kSafe, kUnsafe };

  template <typename Request>
  base::Status ask_if_acceptable(const Request& request, Repeat repeat);
  base::Status ask_line(std::string_view line, Repeat repeat);
  base::Status ask_on_new_connection(std::string_view line, base::Deadline deadline, Repeat repeat);
  void note(int kept_fd, const Outcome& outcome, bool is_repeated);
  void note_no_answer(const net::SocketAddress& address, const Outcome& outcome);

  // How long a blocking call on a connection may sleep. On a kept one, half of the time is left for
  // another try.
  std::int64_t patience_ms() const {
    return mode_ == AuthConnection::kPerRequest ? timeout_ms_ : (timeout_ms_ + 1) / 2;
  }

  AuthAddresses addresses_;
  const AuthConnection mode_;
  const std::int64_t timeout_ms_;
  ConnectionShelf kept_;
};

}  // namespace fileserver
