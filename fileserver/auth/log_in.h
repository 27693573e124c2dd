// Checks the user and password of a client, with the throttle and the log line for failures.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include "base/allowance.h"
#include "base/result.h"
#include "fileserver/auth/auth_client.h"
#include "fileserver/auth/guess_throttle.h"
#include "fileserver/auth/guest_link.h"
#include "net/ip_address.h"
#include "serve/shared_memory.h"
#include "wire/request.h"

namespace fileserver {

// The protocol by which a log-in came, as the log names it.
enum class Front { kNative, kHttp };

// The line of the log for a wrong user or password. Its form is frozen: docs/fail2ban reads it. The
// user is quoted, so no name can look like another address or line.
std::string auth_failed_line(const net::IpAddress& from, std::string_view user, Front front);

// Any thread, and any process that is forked later if the throttle allows it. `auth` and `throttle`
// must outlive it.
class LogIn {
 public:
  // A log-in waits for its turn in the throttle for `patience_ms` at most.
  LogIn(AuthClient& auth, GuessThrottle& throttle, std::int64_t patience_ms)
      : auth_(auth), throttle_(throttle), patience_ms_(patience_ms) {}

  struct Answer {
    base::Status status;
    bool is_throttled = false;  // then the status is kBusy, and the authserver was not asked
  };

  // Asks the authserver, unless the address has sent too many wrong passwords. A password that the
  // authserver denies is logged at info. Of repetitions, which the throttle does not bound, the log
  // gets 60 lines at once and then one more each second.
  Answer check(const net::IpAddress& from, Front front, wire::Credentials account);

  // The same, but begins a session, or changes the password: what is asked is one guess, too.
  struct Opened {
    Answer answer;
    std::string token = {};
  };
  Opened open(const net::IpAddress& from, const wire::Open& request);
  Answer change_password(const net::IpAddress& from, const wire::NewPassword& request);

  // Who the token speaks for. The throttle does not count it: nobody guesses 256 bits, and a
  // browser goes on sending one that has ended.
  base::Result<std::string> user_of(std::string_view token) {
    return auth_.ask(wire::Token{token});
  }

  // What a guest asks for who has the token of a link, and maybe its password, which is one guess
  // if it is wrong. A token alone is none, as that of a session. With kUses one use of the link is
  // counted. kGoesOn is for who has begun one.
  enum class Visit : std::uint8_t { kLooks, kUses, kGoesOn };
  struct Visited {
    Answer answer;                       // kDenied: there is no such link
    std::optional<GuestLink> link = {};  // nothing, though the answer is good: it has a password
  };
  Visited visit(const net::IpAddress& from, std::string_view token, std::string_view secret,
                Visit visit);

  base::Status close(std::string_view token) { return auth_.ask(wire::Close{token}); }

 private:
  template <typename Ask>
  Answer ask(const net::IpAddress& from, Front front, wire::Credentials account, const Ask& ask);

  bool may_log_repetition() { return repetitions_->take(base::now_ns()); }

  AuthClient& auth_;
  GuessThrottle& throttle_;
  const std::int64_t patience_ms_;
  const serve::Shared<base::Allowance> repetitions_{std::in_place, 60, base::kNsPerS};
};

}  // namespace fileserver
