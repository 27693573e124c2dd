#include "fileserver/auth/auth_client.h"

#include <string.h>

#include <algorithm>
#include <string>

#include "base/waits.h"
#include "events/loop.h"
#include "fileserver/auth/auth_pipeline.h"
#include "net/socket_io.h"
#include "telemetry/counters.h"

namespace fileserver {

namespace {

using base::Error;

// A request line, which may hold a password. Its bytes are overwritten at the end.
struct WipedLine {
  std::string text;
  ~WipedLine() { ::explicit_bzero(text.data(), text.size()); }
};

// A part of the time is left for another try.
base::Deadline half_way_to(base::Deadline deadline) {
  return base::Deadline::in_ms(deadline.left_ms() / 2);
}

// A connection that the server announced to close, or on which it did not keep to the protocol, is
// not used again.
bool may_be_kept(const AuthOutcome& outcome) {
  return outcome.is_reusable && goes_on(outcome.reply);
}

// For those whose answer has no content.
base::Status without_content(const base::Result<std::string>& answer) {
  if (!answer) return answer.error();
  if (answer->empty()) return base::kDone;
  return Error{base::ErrorCode::kInternal, "the authserver does not speak the protocol"};
}

}  // namespace

base::Status AuthClient::ask(const wire::Ping& ping) {
  const telemetry::Stopwatch watch(telemetry::Timed::kAuthserver);
  const auto deadline = base::Deadline::in_ms(timeout_ms_);
  const std::string line = wire::line_of(ping);
  const auto ask = [&] { return without_content(ask_by_itself(line, deadline, Repeat::kSafe)); };
  return base::some_have_waits ? ping_.ask(half_way_to(deadline), ask) : ask();
}

base::Status AuthClient::ask(const wire::Auth& request, Sharing sharing) {
  return ask_if_acceptable(request, Repeat::kSafe, sharing);
}

base::Status AuthClient::ask(const wire::New& request) {
  return ask_if_acceptable(request, Repeat::kUnsafe, Sharing::kNotAllowed);
}

// The parser of lines keeps other credentials away too, but a line feed in one that came another
// way would be a second request.
template <typename Request>
base::Status AuthClient::ask_if_acceptable(const Request& request, Repeat repeat, Sharing sharing) {
  if (const auto code = wire::refusal_of(request.account))
    return Error{*code, "credentials that are not acceptable"};
  return without_content(ask_line(WipedLine{wire::line_of(request)}.text, repeat, sharing));
}

base::Result<std::string> AuthClient::ask(const wire::Token& request) {
  constexpr std::string_view kUser = "user ";
  constexpr std::string_view kLink = "link ";
  if (!wire::is_token(request.token)) return Error{base::ErrorCode::kDenied, "no such token"};
  auto answer = ask_line(WipedLine{wire::line_of(request)}.text, Repeat::kSafe, Sharing::kAllowed);
  if (!answer) return answer;
  if (answer->starts_with(kLink) &&
      wire::is_token_id(std::string_view(*answer).substr(kLink.size())))
    return Error{base::ErrorCode::kDenied, "the token of a link speaks for no user"};
  if (!answer->starts_with(kUser) ||
      !wire::is_valid_user(std::string_view(*answer).substr(kUser.size())))
    return Error{base::ErrorCode::kInternal, "the authserver does not speak the protocol"};
  return answer->erase(0, kUser.size());
}

base::Result<std::string> AuthClient::ask(const wire::Open& request) {
  if (const auto code = wire::refusal_of(request.account))
    return Error{*code, "credentials that are not acceptable"};
  auto answer =
      ask_line(WipedLine{wire::line_of(request)}.text, Repeat::kSafe, Sharing::kNotAllowed);
  if (answer && !wire::is_token(*answer))
    return Error{base::ErrorCode::kInternal, "the authserver does not speak the protocol"};
  return answer;
}

base::Status AuthClient::ask(const wire::Close& request) {
  if (!wire::is_token(request.token)) return base::kDone;
  return without_content(
      ask_line(WipedLine{wire::line_of(request)}.text, Repeat::kSafe, Sharing::kNotAllowed));
}

base::Status AuthClient::ask(const wire::NewPassword& request) {
  const auto code = wire::refusal_of(request.account);
  if (code || !wire::is_valid_password(request.password))
    return Error{code.value_or(base::ErrorCode::kInvalid), "credentials that are not acceptable"};
  return without_content(
      ask_line(WipedLine{wire::line_of(request)}.text, Repeat::kUnsafe, Sharing::kNotAllowed));
}

base::Result<std::string> AuthClient::ask(const wire::As& request) {
  const WipedLine line{wire::line_of(request)};
  const std::string_view text(line.text.data(), line.text.size() - 1);
  if (line.text.size() > wire::kMaxLineBytes ||
      !std::holds_alternative<wire::As>(wire::parse_auth_line(text)))
    return Error{base::ErrorCode::kInvalid, "what is asked for is not acceptable"};
  const bool is_safe = wire::may_be_repeated(request.wish.kind);
  return ask_line(line.text, is_safe ? Repeat::kSafe : Repeat::kUnsafe, Sharing::kNotAllowed);
}

AuthClient::Answer AuthClient::ask_line(std::string_view line, Repeat repeat, Sharing sharing) {
  const telemetry::Stopwatch watch(telemetry::Timed::kAuthserver);
  const auto deadline = base::Deadline::in_ms(timeout_ms_);
  const bool may_share = mode_ == AuthConnection::kPersistent && sharing == Sharing::kAllowed &&
                         repeat == Repeat::kSafe;
  if (may_share) {
    if (auto status = ask_together(line, deadline)) return *status;
  }
  return base::some_have_waits ? ask_in_a_place(line, deadline, repeat, may_share)
                               : ask_by_itself(line, deadline, repeat);
}

// Nothing: the caller shall ask by itself.
std::optional<AuthClient::Answer> AuthClient::ask_together(std::string_view line,
                                                           base::Deadline deadline) {
  const auto outcome = ask_on_lane(line, half_way_to(deadline));
  if (!outcome) return {};
  if (has_answer(*outcome)) return answer_of(*outcome);
  return ask_on_new_connection(line, deadline, Repeat::kSafe);
}

// A loop may have thousands of connections, which the authserver would refuse. Who has waited may
// find that the others ask together again, which takes them all no longer than one.
AuthClient::Answer AuthClient::ask_in_a_place(std::string_view line, base::Deadline deadline,
                                              Repeat repeat, bool may_share) {
  const AskingPlaces::Place place(places_, half_way_to(deadline));
  if (!place.is_taken())
    return Error{base::ErrorCode::kUnavailable, "too many wait for the authserver"};
  if (place.has_waited() && may_share) {
    if (auto status = ask_together(line, deadline)) return *status;
  }
  return ask_by_itself(line, deadline, repeat);
}

AuthClient::Answer AuthClient::ask_by_itself(std::string_view line, base::Deadline deadline,
                                             Repeat repeat) {
  return mode_ == AuthConnection::kPerRequest ? ask_on_new_connection(line, deadline, repeat)
                                              : ask_alone(line, deadline, repeat);
}

AuthClient::Answer AuthClient::ask_alone(std::string_view line, base::Deadline deadline,
                                         Repeat repeat) {
  const bool may_repeat = repeat == Repeat::kSafe;
  const auto answer_by = may_repeat ? half_way_to(deadline) : deadline;
  if (tls::Socket kept = kept_.take_quiet(); kept.is_open()) {
    const AuthOutcome outcome = exchange(kept, line, answer_by, false);
    note(kept.get(), outcome, may_repeat);
    if (has_answer(outcome) || !may_repeat) {
      if (may_be_kept(outcome)) kept_.put(std::move(kept));
      return answer_of(outcome);
    }
  }
  return ask_on_new_connection(line, deadline, repeat);
}

// The lanes would use few connections again and again, so that one authserver of several had all
// the work.
std::optional<AuthOutcome> AuthClient::ask_on_lane(std::string_view line,
                                                   base::Deadline answer_by) {
  if (addresses_.count() != 1) return {};
  if (events::Loop* const loop = events::Loop::current()) {
    return loop
        ->kept_for<AuthPipeline>(
            this,
            [&] { return std::make_shared<AuthPipeline>(*loop, kept_, note_on_lane(), limits_); })
        .ask(line, answer_by);
  }
  AuthLane* const lane =
      std::ranges::min_element(lanes_, {}, [](const AuthLane& one) { return one.callers(); });
  return lane->ask(line, answer_by);
}

AuthClient::Answer AuthClient::ask_on_new_connection(std::string_view line, base::Deadline deadline,
                                                     Repeat repeat) {
  auto made = addresses_.connect(patience_ms(), deadline);
  if (!made) return made.error();
  const bool may_try_another = repeat == Repeat::kSafe && addresses_.count() > 1;
  const auto answer_by = may_try_another ? half_way_to(deadline) : deadline;
  const AuthOutcome outcome = exchange(made->socket, line, answer_by, true);
  if (has_answer(outcome)) {
    addresses_.note_answer(made->address);
  } else {
    note_no_answer(made->address, outcome);
    if (may_try_another) return ask_on_new_connection(line, deadline, Repeat::kUnsafe);
  }
  if (mode_ == AuthConnection::kPersistent && may_be_kept(outcome)) {
    net::notice_vanished_peer(made->socket.get());
    kept_.put(std::move(made->socket));
  }
  return answer_of(outcome);
}

// Notes what happened on a kept connection. One that merely broke says nothing about the authserver
// behind it. After one that hangs, the other idle ones are not trusted either.
void AuthClient::note(int kept_fd, const AuthOutcome& outcome, bool is_repeated) {
  const bool is_timed_out = outcome.kind == AuthOutcome::Kind::kTimedOut;
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

void AuthClient::note_no_answer(const net::SocketAddress& address, const AuthOutcome& outcome) {
  addresses_.note_no_answer(address, answer_of(outcome).error().context,
                            base::now_ns() - timeout_ms_ * base::kNsPerMs);
}

}  // namespace fileserver
