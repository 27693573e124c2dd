#include "fileserver/auth/auth_exchange.h"

#include <cerrno>
#include <variant>

#include "wire/error_word.h"

namespace fileserver {

using base::Error;
using base::ErrorCode;
using Kind = AuthOutcome::Kind;

AuthOutcome exchange(tls::Socket& socket, std::string_view line, base::Deadline deadline,
                     bool is_new) {
  if (!socket.send_all(line)) return {errno == EAGAIN ? Kind::kTimedOut : Kind::kBroken};
  wire::LineBuffer lines;
  const Kind kind = receive_line(socket, lines, deadline, is_new);
  if (kind != Kind::kAnswered) return {.kind = kind, .content = socket.failure()};
  std::string_view reply_line;
  std::string_view content;
  if (lines.next_reply(reply_line, content) == wire::LineBuffer::Next::kTooLong)
    return {Kind::kNonsense};
  const auto reply = wire::parse_reply(reply_line);
  if (!fits(line, reply)) return {Kind::kNonsense};
  return {kind, reply, lines.is_empty(), std::string(content)};
}

bool fits(std::string_view line, const wire::Reply& reply) {
  const bool wants_content = line.starts_with("token:") || line.starts_with("open:");
  return wants_content ? !std::holds_alternative<wire::Ok>(reply)
                       : !std::holds_alternative<wire::OkSized>(reply);
}

Kind receive_line(tls::Socket& socket, wire::LineBuffer& lines, base::Deadline deadline,
                  bool is_new) {
  for (bool must_watch_clock = is_new; !lines.has_next_reply(); must_watch_clock = true) {
    const auto room = lines.free_space();
    const ssize_t got = must_watch_clock ? socket.receive_by(room, deadline) : socket.receive(room);
    if (got < 0 && errno == EAGAIN) {
      if (must_watch_clock && deadline.has_passed()) return Kind::kTimedOut;
      continue;
    }
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
  return !std::holds_alternative<wire::NotAReply>(reply);
}

base::Result<std::string> answer_of(const AuthOutcome& outcome) {
  switch (outcome.kind) {
    case Kind::kBroken:
    case Kind::kCut:
      return Error{ErrorCode::kUnavailable,
                   outcome.content.empty()
                       ? "the authserver closed the connection without an answer"
                       : "the connection to the authserver broke: " + outcome.content};
    case Kind::kTimedOut:
      return Error{ErrorCode::kUnavailable, "the authserver did not answer in time"};
    case Kind::kNonsense:
      return Error{ErrorCode::kInternal, "the authserver does not speak the protocol"};
    case Kind::kAnswered: break;
  }
  const bool is_ok = std::holds_alternative<wire::Ok>(outcome.reply) ||
                     std::holds_alternative<wire::OkSized>(outcome.reply);
  if (is_ok) return outcome.content;
  if (const auto* const err = std::get_if<wire::Err>(&outcome.reply))
    return Error{err->code, "the authserver's answer"};
  return Error{ErrorCode::kInternal, "the authserver does not speak the protocol"};
}

}  // namespace fileserver
