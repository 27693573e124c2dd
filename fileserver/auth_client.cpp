#include "fileserver/auth_client.h"

#include <string.h>

#include <cerrno>
#include <variant>

#include "net/socket_io.h"
#include "telemetry/counters.h"
#include "wire/error_word.h"
#include "wire/line_buffer.h"
#include "wire/reply.h"

namespace fileserver {

namespace {

using base::Error;
using base::ErrorCode;
using Outcome = AuthClient::Outcome;

// A request line, which may hold a password. Its bytes are overwritten at the end.
struct WipedLine {
  std::string text;
  ~WipedLine() { ::explicit_bzero(text.data(), text.size()); }
};

// Sends the line and waits for its answer until the deadline. Connecting may already have used up a
// part of the time, so the clock is watched on a new connection. On a kept one, the first receive
// only has the socket's own time-out, which saves a system call.
Outcome exchange(int fd, std::string_view line, base::Deadline deadline, bool is_new) {
  using Kind = Outcome::Kind;
  if (!net::send_all(fd, line)) return {errno == EAGAIN ? Kind::kTimedOut : Kind::kBroken};
  wire::LineBuffer lines;
  for (bool must_watch_clock = is_new;; must_watch_clock = true) {
    if (must_watch_clock && !net::wait_until_readable(fd, deadline)) return {Kind::kTimedOut};
    const ssize_t got = net::receive(fd, lines.free_space());
    if (got < 0 && errno == EAGAIN) continue;
    if (got <= 0) return {lines.is_empty() ? Kind::kBroken : Kind::kCut};
    lines.received(static_cast<std::size_t>(got));
    std::string_view reply_line;
    switch (lines.next(reply_line)) {
      case wire::LineBuffer::Next::kLine:
        return {Kind::kAnswered, wire::parse_reply(reply_line), lines.is_empty()};
      case wire::LineBuffer::Next::kTooLong: return {Kind::kNonsense};
      case wire::LineBuffer::Next::kNeedMore: break;
    }
  }
}

bool has_answer(const Outcome& outcome) {
  return outcome.kind == Outcome::Kind::kAnswered || outcome.kind == Outcome::Kind::kNonsense;
}

// A connection that the server announced to close, or on which it did not keep to the protocol, is
// not used again.
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
                   "the authserver closed the connection without an answer"};
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

base::Status AuthClient::ask(const wire::Ping& ping) {
  return ask_line(WipedLine{wire::line_of(ping)}.text, Repeat::kSafe);
}

base::Status AuthClient::ask(const wire::Auth& request) {
  return ask_if_acceptable(request, Repeat::kSafe);
}

base::Status AuthClient::ask(const wire::New& request) {
  return ask_if_acceptable(request, Repeat::kUnsafe);
}

// The parser of lines keeps other credentials away too, but a line feed in one that came another
// way would be a second request.
template <typename Request>
base::Status AuthClient::ask_if_acceptable(const Request& request, Repeat repeat) {
  if (const auto code = wire::refusal_of(request.account))
    return Error{*code, "credentials that are not acceptable"};
  return ask_line(WipedLine{wire::line_of(request)}.text, repeat);
}

base::Status AuthClient::ask_line(std::string_view line, Repeat repeat) {
  const telemetry::Stopwatch watch(telemetry::Timed::kAuthserver);
  const auto deadline = base::Deadline::in_ms(timeout_ms_);
  if (mode_ == AuthConnection::kPerRequest) return ask_on_new_connection(line, deadline, repeat);
  // The authserver may have closed an idle connection; after a restart it has closed all of them.
  // Bytes that arrived unasked must not be taken for an answer. The check costs one system call.
  for (net::Fd kept = kept_.take(); kept.is_open(); kept = kept_.take()) {
    if (!net::is_quiet_and_open(kept.get())) continue;
    const bool may_repeat = repeat == Repeat::kSafe;
    const auto answer_by = may_repeat ? deadline.earlier_by_ms(timeout_ms_ / 2) : deadline;
    const Outcome outcome = exchange(kept.get(), line, answer_by, false);
    note(kept.get(), outcome, may_repeat);
    if (!has_answer(outcome) && may_repeat) break;
    if (may_be_kept(outcome)) kept_.put(std::move(kept));
    return status_of(outcome);
  }
  return ask_on_new_connection(line, deadline, repeat);
}

base::Status AuthClient::ask_on_new_connection(std::string_view line, base::Deadline deadline,
                                               Repeat repeat) {
  auto made = addresses_.connect(patience_ms(), deadline);
  if (!made) return made.error();
  const bool may_try_another = repeat == Repeat::kSafe && addresses_.count() > 1;
  const auto answer_by = may_try_another ? base::Deadline::in_ms(deadline.left_ms() / 2) : deadline;
  const Outcome outcome = exchange(made->fd.get(), line, answer_by, true);
  if (has_answer(outcome)) {
    addresses_.note_answer(made->address);
  } else {
    note_no_answer(made->address, outcome);
    if (may_try_another) return ask_on_new_connection(line, deadline, Repeat::kUnsafe);
  }
  if (mode_ == AuthConnection::kPersistent && may_be_kept(outcome)) {
    net::notice_vanished_peer(made->fd.get());
    kept_.put(std::move(made->fd));
  }
  return status_of(outcome);
}

// Notes what happened on a kept connection. One that merely broke says nothing about the authserver
// behind it. After one that hangs, the other idle ones are not trusted either.
void AuthClient::note(int kept_fd, const Outcome& outcome, bool is_repeated) {
  const bool is_timed_out = outcome.kind == Outcome::Kind::kTimedOut;
  if (is_timed_out) kept_.clear();
  if (!is_timed_out && addresses_.all_are_well()) return;
  const auto address = net::peer_of(kept_fd);
  if (!address) return;
  if (has_answer(outcome)) {
    addresses_.note_answer(*address);
  } else if (is_timed_out && is_repeated) {
    addresses_.skip(*address);  // the next attempt tells whether it is unreachable
  } else if (is_timed_out) {
    note_no_answer(*address, outcome);
  }
}

void AuthClient::note_no_answer(const net::SocketAddress& address, const Outcome& outcome) {
  addresses_.note_no_answer(address, status_of(outcome).error().context,
                            base::now_ns() - timeout_ms_ * base::kNsPerMs);
}

}  // namespace fileserver
