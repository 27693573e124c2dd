#include "fileserver/session.h"

#include <variant>

#include "base/log.h"
#include "serve/answer.h"
#include "wire/error_word.h"

namespace fileserver {

void Session::serve(serve::Connection& connection) {
  is_granted_ = false;
  while (const auto line = connection.next_line()) {
    std::visit([&](const auto& request) { handle(connection, request); },
               wire::parse_client_line(*line));
  }
}

void Session::handle(serve::Connection& connection, const wire::Ping& ping) {
  connection.flush();
  const auto answer = auth_.ask(ping);
  if (answer) {
    connection.reply_ok();
  } else {
    connection.reply_error(base::ErrorCode::kUnavailable, "the authserver does not answer");
  }
}

void Session::handle(serve::Connection& connection, const wire::New& request) {
  connection.flush();
  const auto answer = auth_.ask(request);
  serve::log_request("new", request.account.user, answer);
  serve::answer(connection, answer);
}

void Session::handle(serve::Connection& connection, const wire::Get& request) {
  connection.flush();
  is_granted_ = false;
  const auto answer = auth_.ask(wire::Auth{request.account});
  is_granted_ = answer.ok();
  serve::log_request("get", request.account.user, answer);
  serve::answer(connection, answer);
}

void Session::handle(serve::Connection& connection, const wire::FileName& file) {
  if (!is_granted_) {
    connection.reply_error(base::ErrorCode::kDenied, "log in first: get:USER:PASSWORD");
    return;
  }
  const auto sent = files_.send(file.name, connection);
  base::log::debug("file name={} answer={}", base::log::quoted(file.name),
                   sent ? "OK" : wire::word_of(sent.error().code));
  if (!sent) serve::answer(connection, sent);
}

void Session::handle(serve::Connection& connection, const wire::Refused& refused) {
  if (refused.was_get) is_granted_ = false;
  connection.reply_error(refused.code);
}

}  // namespace fileserver
