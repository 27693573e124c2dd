// What comes of a request to the authserver on one connection.
#pragma once

#include <string>
#include <string_view>

#include "base/clock.h"
#include "base/result.h"
#include "tls/socket.h"
#include "wire/line_buffer.h"
#include "wire/reply.h"

namespace fileserver {

// The result of one request on one connection.
struct AuthOutcome {
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
  std::string content = {};  // behind "OK <size>"; or why an encrypted connection broke
};

// The longest content of an answer to `as:` and `by:`; others have at most that of a LineBuffer.
inline constexpr std::size_t kMaxWishBytes = std::size_t{64} * 1024;

// Sends the line and waits for its answer until the deadline. Connecting may already have used up a
// part of the time, so the clock is watched on a new connection. On a kept one, the first receive
// only has the socket's own time-out, which saves a system call.
AuthOutcome exchange(tls::Socket& socket, std::string_view line, base::Deadline deadline,
                     bool is_new);

// Receives bytes until `lines` has a reply, which may be too long: then returns kAnswered. The
// other parameters and results are those of exchange().
AuthOutcome::Kind receive_line(tls::Socket& socket, wire::LineBuffer& lines,
                               base::Deadline deadline, bool is_new);

// Whether an answer other than an error has the form that the line asks for: OK with a content for
// those that ask for one, else without. Anything else is no answer.
bool fits(std::string_view line, const wire::Reply& reply);

// Whether the authserver said something.
bool has_answer(const AuthOutcome& outcome);

// Whether it is an answer after which the connection goes on: OK, or an error that does not end it.
// Whether something follows the answer is not looked at.
bool goes_on(const wire::Reply& reply);

// What the caller is told: the content of the answer, empty for a plain OK.
base::Result<std::string> answer_of(const AuthOutcome& outcome);

}  // namespace fileserver
