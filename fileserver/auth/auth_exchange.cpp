#include "fileserver/auth/auth_exchange.h"

#include <cerrno>
#include <variant>

#include "net/socket_io.h"
#include "wire/error_word.h"

namespace fileserver {

using base::Error;
using base::ErrorCode;
using Kind = AuthOutcome::Kind;

AuthOutcome exchange(int fd, std::string_view line, base::Deadline deadline, bool is_new) {
  if (!net::send_all(fd, line)) return {errno == EAGAIN ? Kind::kTimedOut : Kind::kBroken};
  wire::LineBuffer lines;
  const Kind kind = receive_line(fd, lines, deadline, is_new);
  if (kind != Kind::kAnswered) return {kind};
  std::string_view reply_line;
  if (lines.next(reply_line) == wire::LineBuffer::Next::kTooLong) return {Kind::kNonsense};
  return {kind, wire::parse_reply(reply_line), lines.is_empty()};
}

Kind receive_line(int fd, wire::LineBuffer& lines, base::Deadline deadline, bool is_new) {
  for (bool must_watch_clock = is_new; !lines.has_next(); must_watch_clock = true) {
    if (must_watch_clock && !net::wait_until_readable(fd, deadline)) return Kind::kTimedOut;
    const ssize_t got = net::receive(fd, lines.free_space());
    if (got < 0 && errno == EAGAIN) continue;
    if (got <= 0) return lines.is_empty() ? Kind::kBroken : Kind::kCut;
    lines.received(static_cast<std::size_t>(got));
  }
  return Kind::kAnswered;
}

bool has_answer(const AuthOutcome& outcome) {
  return outcome.kind == Kind::kAnswered || outcome.kind == Kind::kNonsense;
}

bool goes_on(const wire::Reply& reply) {
  if (const auto* const err = std::get_if<wire::Err>(&reply))
    return !wire::closes_connection(err->code);
  return std::holds_alternative<wire::Ok>(reply);
}

base::Status status_of(const AuthOutcome& outcome) {
  switch (outcome.kind) {
    case Kind::kBroken:
    case Kind::kCut:
      return Error{ErrorCode::kUnavailable,
                   "the authserver closed the connection without an answer"};
    case Kind::kTimedOut:
      return Error{ErrorCode::kUnavailable, "the authserver did not answer in time"};
    case Kind::kNonsense:
      return Error{ErrorCode::kInternal, "the authserver does not speak the protocol"};
    case Kind::kAnswered: break;
  }
  if (std::holds_alternative<wire::Ok>(outcome.reply)) return base::kDone;
  if (const auto* const err = std::get_if<wire::Err>(&outcome.reply))
    return Error{err->code, "the authserver's answer"};
  return Error{ErrorCode::kInternal, "the authserver does not speak the protocol"};
}

}  // namespace fileserver
