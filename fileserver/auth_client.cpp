#include "fileserver/auth_client.h"

#include <array>
#include <cerrno>
#include <variant>

#include "net/socket_io.h"
#include "wire/error_word.h"
#include "wire/line_buffer.h"
#include "wire/reply.h"

namespace fileserver {

namespace {

using base::Error;
using base::ErrorCode;

// What became of one request on one connection.
struct Outcome {
  enum class Kind {
    kAnswered,  // `reply`
    kBroken,    // the connection ended before any of the answer came
    kCut,       // or in the middle of it
    kTimedOut,
    kNonsense,
  };
  Kind kind;
  wire::Reply reply = wire::NotAReply{};
  bool is_reusable = false;  // nothing came behind the answer
};

// A connection just made may have used up part of the time; on a kept one the socket's own time-out
// is the deadline.
Outcome exchange(int fd, std::string_view line, base::Deadline deadline, bool is_fresh) {
  using Kind = Outcome::Kind;
  if (!net::send_all(fd, line)) return {errno == EAGAIN ? Kind::kTimedOut : Kind::kBroken};
  std::array<char, wire::kMaxLineBytes> bytes;
  std::size_t have = 0;
  for (bool must_watch_clock = is_fresh; have < bytes.size(); must_watch_clock = true) {
    if (must_watch_clock && !net::wait_until_readable(fd, deadline)) return {Kind::kTimedOut};
    const ssize_t got = net::receive(fd, std::span(bytes).subspan(have));
    if (got < 0 && errno == EAGAIN) return {Kind::kTimedOut};
    if (got <= 0) return {have == 0 ? Kind::kBroken : Kind::kCut};
    have += static_cast<std::size_t>(got);
    const std::string_view received(bytes.data(), have);
    const std::size_t lf = received.find('\n');
    if (lf == std::string_view::npos) continue;
    std::string_view reply_line = received.substr(0, lf);
    if (reply_line.ends_with('\r')) reply_line.remove_suffix(1);
    return {Kind::kAnswered, wire::parse_reply(reply_line), lf + 1 == have};
  }
  return {Kind::kNonsense};
}

// Who has said that it closes the connection, or has talked nonsense, is not asked on it again.
bool may_be_kept(const Outcome& outcome) {
  if (!outcome.is_reusable) return false;
  if (const auto* const err = std::get_if<wire::Err>(&outcome.reply))
    return !wire::closes_connection(err->code);
  return std::holds_alternative<wire::Ok>(outcome.reply);
}

base::Status status_of(const Outcome& outcome) {
  switch (outcome.kind) {
    case Outcome::Kind::kBroken:
    case Outcome::Kind::kCut:
      return Error{ErrorCode::kUnavailable,
                   "the authserver closed the connection instead of answering"};
    case Outcome::Kind::kTimedOut:
      return Error{ErrorCode::kUnavailable, "the authserver did not answer in time"};
    case Outcome::Kind::kNonsense:
      return Error{ErrorCode::kInternal, "the authserver does not speak the protocol"};
    case Outcome::Kind::kAnswered: break;
  }
  if (std::holds_alternative<wire::Ok>(outcome.reply)) return base::kDone;
  if (const auto* const err = std::get_if<wire::Err>(&outcome.reply))
    return Error{err->code, "the authserver's answer"};
  return Error{ErrorCode::kInternal, "the authserver does not speak the protocol"};
}

}  // namespace

base::Status AuthClient::ask(std::string_view line, Repeat repeat) {
  const auto deadline = base::Deadline::in_ms(timeout_ms_);
  if (mode_ == AuthConnection::kPerRequest) return ask_on_fresh(line, deadline);
  // A kept connection may have been closed by the other side while it was idle, many at once when
  // the authserver was restarted; and bytes that nobody asked for must not be taken for an answer.
  // So look first, which costs one call.
  for (net::Fd kept = kept_.take(); kept.is_open(); kept = kept_.take()) {
    if (!net::is_quiet_and_open(kept.get())) continue;
    const Outcome outcome = exchange(kept.get(), line, deadline, false);
    if (outcome.kind == Outcome::Kind::kBroken && repeat == Repeat::kSafe) break;
    if (may_be_kept(outcome)) kept_.put(std::move(kept));
    return status_of(outcome);
  }
  return ask_on_fresh(line, deadline);
}

base::Status AuthClient::ask_on_fresh(std::string_view line, base::Deadline deadline) {
  auto fresh = addresses_.connect(timeout_ms_, deadline);
  if (!fresh) return fresh.error();
  const Outcome outcome = exchange(fresh->get(), line, deadline, true);
  if (mode_ == AuthConnection::kPersistent && may_be_kept(outcome)) kept_.put(std::move(*fresh));
  return status_of(outcome);
}

}  // namespace fileserver
