#include "fileserver/session.h"

#include <variant>

#include "base/clock.h"
#include "base/log.h"
#include "fileserver/auth/masked_password.h"
#include "fileserver/wrong_port.h"
#include "serve/answer.h"
#include "telemetry/counters.h"
#include "wire/error_word.h"
#include "wire/http_line.h"

namespace fileserver {

namespace {

using telemetry::Verb;

Verb verb_of(const wire::Ping&) { return Verb::kPing; }
Verb verb_of(const wire::New&) { return Verb::kNew; }
Verb verb_of(const wire::Get&) { return Verb::kLogIn; }
Verb verb_of(const wire::FileName&) { return Verb::kFile; }
Verb verb_of(const wire::Refused&) { return Verb::kOther; }

// A file that was not sent to its end has no error code, because its header promised the file.
telemetry::Ending ending_of(serve::LineConversation& connection) {
  return !connection.outcome() && connection.stream().is_over() ? telemetry::Ending::kCut
                                                                : telemetry::Ending::kAnswered;
}

// What is kept of a connection that rests, beside its user.
constexpr int kIsNotFirst = 1;

// An answer of the authserver that is older does not count for a further file.
constexpr std::int64_t kGrantNs = 10 * base::kNsPerS;

constexpr std::string_view kManyWrongPasswords = "too many wrong passwords from this address";

// As the transfer log names them.
constexpr std::string_view kGetVerb = "get:";
constexpr std::string_view kNewVerb = "new:";

void refuse_new(serve::LineConversation& connection) {
  connection.reply_error(base::ErrorCode::kDenied, "accounts are not created here");
}

}  // namespace

void Session::converse(serve::LineConversation& connection) {
  is_first_line_ = connection.stream().kept() != kIsNotFirst;
  if (parts_.transfer_log != nullptr) connection.stream().keep_times();
  while (const auto line = connection.next_line()) {
    const telemetry::RequestTimer timer;
    const auto parsed = wire::parse_client_line(*line);
    std::visit([&](const auto& request) { handle(connection, request); }, parsed);
    timer.count(std::visit([](const auto& request) { return verb_of(request); }, parsed),
                connection.outcome(), ending_of(connection));
    is_first_line_ = false;
  }
  connection.stream().keep(is_first_line_ ? 0 : kIsNotFirst);
}

void Session::handle(serve::LineConversation& connection, const wire::Ping& ping) {
  connection.flush();
  const auto answer = parts_.auth.ask(ping);
  if (answer) {
    connection.reply_ok();
  } else {
    connection.reply_error(base::ErrorCode::kUnavailable, "the authserver does not answer");
  }
}

void Session::handle(serve::LineConversation& connection, const wire::New& request) {
  const std::int64_t asked_ns = parts_.time_for_log();
  if (parts_.offer.new_accounts == NewAccounts::kClosed ||
      parts_.is_reserved(request.account.user)) {
    refuse_new(connection);
    log_refusal(connection, kNewVerb, {}, asked_ns, base::ErrorCode::kDenied);
    return;
  }
  connection.flush();
  const auto& peer = connection.peer();
  const auto answer = parts_.sign_up.make({peer, peer}, request.account);
  serve::log_request("new", request.account.user, answer.status);
  if (answer.is_throttled) {
    connection.reply_error(base::ErrorCode::kBusy, "too many new accounts from this address");
    log_refusal(connection, kNewVerb, {}, asked_ns, base::ErrorCode::kBusy);
  } else {
    serve::answer(connection, answer.status);
  }
}

void Session::handle(serve::LineConversation& connection, const wire::Get& request) {
  const std::int64_t asked_ns = parts_.time_for_log();
  connection.flush();
  connection.stream().leave_nobody();
  const std::int64_t now_ns = base::now_ns();
  const auto answer = parts_.log_in.check(connection.peer(), Front::kNative, request.account);
  if (answer.status) let_in(connection, request.account, now_ns);
  serve::log_request("get", request.account.user, answer.status);
  note_log_in(connection, request, asked_ns, answer.status);
  if (answer.is_throttled) {
    connection.reply_error(base::ErrorCode::kBusy, kManyWrongPasswords);
  } else {
    serve::answer(connection, answer.status);
  }
}

void Session::let_in(serve::LineConversation& connection, wire::Credentials account,
                     std::int64_t asked_ns) {
  connection.stream().let_in({.granted_ns = asked_ns,
                              .name = std::string(account.user),
                              .masked_password = masked(account.password)});
}

bool Session::is_still_granted(serve::LineConversation& connection, std::string_view name,
                               std::int64_t asked_ns) {
  serve::StreamUser& user = *connection.stream().user();
  const std::int64_t now_ns = base::now_ns();
  if (now_ns - user.granted_ns < kGrantNs) return true;
  connection.flush();
  const UnmaskedPassword password(user.masked_password);
  const auto answer =
      parts_.log_in.check(connection.peer(), Front::kNative, {user.name, password.view()});
  if (answer.status) {
    user.granted_ns = now_ns;
    return true;
  }
  const base::ErrorCode code = answer.status.error().code;
  log_transfer(connection, name, asked_ns, base::Error{code, {}});
  if (code == base::ErrorCode::kDenied) connection.stream().leave_nobody();
  if (answer.is_throttled) {
    connection.reply_error(code, kManyWrongPasswords);
  } else {
    serve::answer(connection, answer.status);
  }
  return false;
}

void Session::handle(serve::LineConversation& connection, const wire::FileName& file) {
  const std::int64_t asked_ns = parts_.time_for_log();
  if (is_first_line_ && wire::is_http_request_line(file.name)) {
    connection.end_with(base::ErrorCode::kSyntax, wrong_port_answer(parts_.http_address));
    return;
  }
  if (connection.stream().user() == nullptr) {
    log_transfer(connection, file.name, asked_ns, base::Error{base::ErrorCode::kDenied, {}});
    connection.reply_error(base::ErrorCode::kDenied, "log in first: get:USER:PASSWORD");
    return;
  }
  if (!is_still_granted(connection, file.name, asked_ns)) return;
  const auto opened = open(connection, file.name);
  const base::Status status = opened ? base::Status(base::kDone) : opened.error();
  if (opened) {
    const auto head = connection.begin_sized_reply(opened->size_bytes());
    send(connection.stream(), head, *opened, {0, opened->size_bytes()});
  }
  log_transfer(connection, file.name, asked_ns, status);
  if (base::log::is_on(base::log::Level::kDebug)) {  // quoting the name takes memory and time
    base::log::debug("file name={} answer={}", base::log::quoted(file.name),
                     status ? "OK" : wire::word_of(status.error().code));
  }
  if (!status) serve::answer(connection, status);
}

// The door of the native protocol (http/permitted.h). A file that the user may not read is answered
// as if it were not there.
base::Result<OpenedFile> Session::open(serve::LineConversation& connection, std::string_view name) {
  if (!parts_.rights.of(connection.stream().user()->name).may_read(name))
    return base::Error{base::ErrorCode::kNotFound, "not for this user"};
  return parts_.files->open(name);
}

void Session::log_transfer(serve::LineConversation& connection, std::string_view name,
                           std::int64_t asked_ns, const base::Status& sent) {
  if (parts_.transfer_log == nullptr) return;
  Transfer transfer{.name = name, .client = connection.peer(), .asked_ns = asked_ns};
  if (const auto* const user = connection.stream().user()) transfer.user = user->name;
  if (sent) {
    transfer.reply = connection.stream().sized_reply();
    transfer.size_bytes = transfer.reply.size_bytes;
  } else {
    transfer.error = sent.error().code;
  }
  parts_.transfer_log->add(transfer);
}

// For a transfer log with users: who was not let in.
void Session::note_log_in(serve::LineConversation& connection, const wire::Get& request,
                          std::int64_t asked_ns, const base::Status& granted) {
  if (!parts_.logs_users()) return;
  if (granted) return;
  const base::ErrorCode code = granted.error().code;
  if (code == base::ErrorCode::kDenied || code == base::ErrorCode::kBusy)
    log_refusal(connection, kGetVerb, request.account.user, asked_ns, code);
}

void Session::log_refusal(serve::LineConversation& connection, std::string_view verb,
                          std::string_view user, std::int64_t asked_ns, base::ErrorCode code) {
  if (!parts_.logs_users()) return;
  parts_.transfer_log->add({.client = connection.peer(),
                            .asked_ns = asked_ns,
                            .error = code,
                            .user = user,
                            .method = verb,
                            .has_name = false});
}

void Session::handle(serve::LineConversation& connection, const wire::Refused& refused) {
  if (refused.was_get) connection.stream().leave_nobody();
  if (refused.was_new && parts_.offer.new_accounts == NewAccounts::kClosed) {
    const std::int64_t asked_ns = parts_.time_for_log();
    refuse_new(connection);
    log_refusal(connection, kNewVerb, {}, asked_ns, base::ErrorCode::kDenied);
  } else {
    connection.reply_error(refused.code);
  }
}

}  // namespace fileserver
