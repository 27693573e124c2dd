#include "fileserver/auth/auth_exchange.h"

#include <array>
#include <cerrno>
#include <optional>
#include <variant>

#include "wire/error_word.h"

namespace fileserver {

using base::Error;
using base::ErrorCode;
using Kind = AuthOutcome::Kind;

namespace {

// The wishes of people, whose answers may be long, or have no content.
bool is_wish(std::string_view line) { return line.starts_with("as:") || line.starts_with("by:"); }

// How much more has to come of the reply that begins the bytes: 0 once it is there as a whole.
// Nothing if it is none.
std::optional<std::size_t> missing_bytes(std::string_view bytes, std::size_t& head_bytes,
                                         wire::Reply& reply) {
  const auto first = wire::first_line(bytes);
  if (first.state == wire::FirstLine::State::kTooLong) return {};
  if (first.state == wire::FirstLine::State::kNeedMore) return 1;
  reply = wire::parse_reply(first.line);
  head_bytes = first.size_bytes;
  const auto* const sized = std::get_if<wire::OkSized>(&reply);
  if (sized == nullptr) return 0;
  if (sized->size_bytes > kMaxWishBytes) return {};
  const std::size_t whole = head_bytes + static_cast<std::size_t>(sized->size_bytes);
  return whole > bytes.size() ? whole - bytes.size() : 0;
}

AuthOutcome receive_answer_of_wish(tls::Socket& socket, base::Deadline deadline) {
  std::string bytes;
  std::size_t head_bytes = 0;
  wire::Reply reply = wire::NotAReply{};
  for (;;) {
    const auto missing = missing_bytes(bytes, head_bytes, reply);
    if (!missing) return {Kind::kNonsense};
    if (*missing == 0) break;
    std::array<char, 4096> piece;
    const ssize_t got = socket.receive_by(piece, deadline);
    if (got < 0 && errno == EAGAIN) {
      if (deadline.has_passed()) return {Kind::kTimedOut};
      continue;
    }
    if (got <= 0)
      return {.kind = bytes.empty() ? Kind::kBroken : Kind::kCut, .content = socket.failure()};
    bytes.append(piece.data(), static_cast<std::size_t>(got));
  }
  const auto* const sized = std::get_if<wire::OkSized>(&reply);
  const std::size_t size = sized == nullptr ? 0 : static_cast<std::size_t>(sized->size_bytes);
  if (std::holds_alternative<wire::NotAReply>(reply)) return {Kind::kNonsense};
  const bool is_all = bytes.size() == head_bytes + size;
  return {Kind::kAnswered, reply, is_all, bytes.substr(head_bytes, size)};
}

}  // namespace

AuthOutcome exchange(tls::Socket& socket, std::string_view line, base::Deadline deadline,
                     bool is_new) {
  if (!socket.send_all(line)) return {errno == EAGAIN ? Kind::kTimedOut : Kind::kBroken};
  if (is_wish(line)) return receive_answer_of_wish(socket, deadline);
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
