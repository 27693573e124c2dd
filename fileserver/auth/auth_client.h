// Sends requests to the authserver.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "fileserver/auth/asking_places.h"
#include "fileserver/auth/auth_addresses.h"
#include "fileserver/auth/auth_exchange.h"
#include "fileserver/auth/auth_lane.h"
#include "fileserver/auth/auth_options.h"
#include "fileserver/auth/connection_shelf.h"
#include "fileserver/auth/shared_ping.h"
#include "wire/request.h"

namespace fileserver {

// Keeps connections to the authserver and lends each to one request at a time. A request that finds
// no idle connection makes a new one. A connection is closed instead of kept if anything about it
// is odd, so a late answer can never be taken for the answer to another request.
//
// Threads: any, at the same time. Kept connections are taken without a lock.
class AuthClient {
 public:
  // `encryption` must outlive it; null: the authserver is asked in clear.
  explicit AuthClient(const AuthOptions& options, AuthAddresses::Resolver resolver = net::resolve,
                      AuthAddresses::OutageLog outage_log = AuthAddresses::OutageLog::kOn,
                      AuthLane::Limits lanes = {}, tls::ClientContext* encryption = nullptr)
      : addresses_(options.address, std::move(resolver), outage_log, encryption),
        mode_(options.connection),
        timeout_ms_(options.timeout_ms),
        limits_(lanes),
        lanes_{AuthLane{kept_, note_on_lane(), lanes}, AuthLane{kept_, note_on_lane(), lanes}} {}

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
  base::Status ask(const wire::New& request);
  //
  // With Sharing::kAllowed, an `auth` may be asked on a connection together with others. Then it
  // waits for the answers before its own, and those behind it wait for its answer. So the caller
  // allows it only if the answer probably comes at once, without a password hash.
  enum class Sharing { kAllowed, kNotAllowed };
  base::Status ask(const wire::Auth& request, Sharing sharing = Sharing::kNotAllowed);

  // The same for sessions. A token is asked for as `auth` is, and needs no hash, so always together
  // with others. Returns the user; kDenied for what cannot be a token, and for that of a link.
  // `open` returns the token. It and `close` are repeated, `password` is not.
  base::Result<std::string> ask(const wire::Token& request);
  base::Result<std::string> ask(const wire::Open& request);
  base::Status ask(const wire::Close& request);
  base::Status ask(const wire::NewPassword& request);

  // What a person asks for. Returns the content, which may be empty. Repeated if the wish may be.
  // kInvalid, without asking, for what is no line of the protocol.
  base::Result<std::string> ask(const wire::As& request);

 private:
  using Answer = base::Result<std::string>;  // its content

  enum class Repeat { kSafe, kUnsafe };

  template <typename Request>
  base::Status ask_if_acceptable(const Request& request, Repeat repeat, Sharing sharing);
  Answer ask_line(std::string_view line, Repeat repeat, Sharing sharing);
  std::optional<Answer> ask_together(std::string_view line, base::Deadline deadline);
  std::optional<AuthOutcome> ask_on_lane(std::string_view line, base::Deadline answer_by);
  Answer ask_in_a_place(std::string_view line, base::Deadline deadline, Repeat repeat,
                        bool may_share);
  Answer ask_by_itself(std::string_view line, base::Deadline deadline, Repeat repeat);
  Answer ask_alone(std::string_view line, base::Deadline deadline, Repeat repeat);
  Answer ask_on_new_connection(std::string_view line, base::Deadline deadline, Repeat repeat);
  AuthLane::Note note_on_lane() {
    return [this](int kept_fd, const AuthOutcome& outcome) { note(kept_fd, outcome, true); };
  }
  void note(int kept_fd, const AuthOutcome& outcome, bool is_repeated);
  void note_no_answer(const net::SocketAddress& address, const AuthOutcome& outcome);

  // How long a blocking call on a connection may sleep. On a kept one, half of the time is left for
  // another try.
  std::int64_t patience_ms() const {
    return mode_ == AuthConnection::kPerRequest ? timeout_ms_ : (timeout_ms_ + 1) / 2;
  }

  AuthAddresses addresses_;
  const AuthConnection mode_;
  const std::int64_t timeout_ms_;
  const AuthLane::Limits limits_;
  ConnectionShelf kept_;
  // For loops and their helpers; where each connection has a thread, that is a bound by itself.
  // Whether the server can serve is asked for also when a crowd logs in.
  AskingPlaces places_;
  SharedPing ping_;

  // Two, so that two cores of the authserver have work, and a slow answer does not hold up all.
  std::array<AuthLane, 2> lanes_;
};

}  // namespace fileserver
