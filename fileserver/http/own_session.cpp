#include <fmt/core.h>

#include <string>

#include "base/json_text.h"
#include "fileserver/http/account_json.h"
#include "fileserver/http/asker.h"
#include "fileserver/http/exchange.h"
#include "fileserver/http/secret_body.h"
#include "fileserver/http/server_paths.h"
#include "fileserver/http/token_json.h"
#include "fileserver/http/validated.h"
#include "fileserver/parts.h"
#include "serve/answer.h"

namespace fileserver {

namespace {

// A browser forgets the cookie when it is closed, unless its user wants to stay.
constexpr std::int64_t kOneSessionS = 86'400;
constexpr std::int64_t kStayS = 30 * kOneSessionS;

// The script of no page reads it, and no page of another site makes a browser send it.
std::string cookie_of(Exchange& exchange, std::string_view token,
                      std::optional<std::int64_t> seconds) {
  std::string cookie = fmt::format("{}={}; HttpOnly; SameSite=Strict; Path=/", kCookieName, token);
  if (exchange.stream().is_encrypted()) cookie += "; Secure";
  if (seconds) cookie += fmt::format("; Max-Age={}", *seconds);
  return cookie;
}

void answer_with_cookie(Exchange& exchange, const std::string& cookie) {
  http::AnswerHead head = exchange.begin(204);
  head.field("Set-Cookie", cookie).field("Cache-Control", "no-store");
  exchange.connection().send(head.finish());
}

void answer_refusal(Exchange& exchange, const LogIn::Answer& answer) {
  if (answer.is_throttled) return exchange.answer(429);
  exchange.answer(answer.status.error());
}

}  // namespace

// A new session has a new token, whatever cookie the request has. The browser forgets that cookie,
// so its session ends. If it cannot be ended now, it ends in its time.
void open_session(Exchange& exchange, Parts& parts) {
  exchange.verb = telemetry::Verb::kLogIn;
  if (is_from_other_site(exchange.head())) return exchange.answer(403);
  const std::string before(RequestCredentials(exchange.head()).token());
  SecretBody body;
  if (const auto refused = read_secrets(exchange, body)) return exchange.answer(*refused);
  const auto wish = parse_session(body.json());
  if (!wish) return exchange.answer(422);
  if (wire::refusal_of(wish->account)) return exchange.answer(401);
  const wire::Open request{wish->stays ? kStayS : kOneSessionS, wish->account};
  const auto opened = parts.log_in.open(exchange.client, request);
  serve::log_request("session", wish->account.user, opened.answer.status);
  if (!opened.answer.status) {
    exchange.refused_user = wish->account.user;
    return answer_refusal(exchange, opened.answer);
  }
  exchange.stream().note_granted();
  if (!before.empty()) static_cast<void>(parts.log_in.close(before));
  exchange.user = wish->account.user;
  answer_with_cookie(exchange, cookie_of(exchange, opened.token,
                                         wish->stays ? std::optional(kStayS) : std::nullopt));
}

// With a password instead of a cookie there is no session to end.
void close_session(Exchange& exchange, Parts& parts) {
  const RequestCredentials credentials(exchange.head());
  const auto closed = parts.log_in.close(credentials.token());
  if (!closed) return exchange.answer(closed.error());
  answer_with_cookie(exchange, cookie_of(exchange, {}, 0));
}

void tell_who(Exchange& exchange, Parts& parts) {
  const auto told = Asker(exchange.head()).ask(parts, {wire::Wish::Kind::kWho});
  if (!told) return exchange.answer(told.error());
  const Person person = parse_person(*told);
  const std::string_view by = person.by == "password" ? "basic" : person.by;
  send_json(exchange, 200,
            fmt::format("{{\"user\": {}, \"admin\": {}, \"by\": {}}}\n",
                        base::json_text(person.user, base::JsonText::kUtf8), person.is_admin,
                        base::json_text(by, base::JsonText::kUtf8)));
}

// All sessions of the user have ended then, this one too.
void change_password(Exchange& exchange, Parts& parts) {
  if (is_from_other_site(exchange.head())) return exchange.answer(403);
  if (!exchange.is_by_session) {
    const auto told = Asker(exchange.head()).ask(parts, {wire::Wish::Kind::kWho});
    if (!told) return exchange.answer(told.error());
    if (parse_person(*told).by == "app") return exchange.answer(403);
  }
  SecretBody body;
  if (const auto refused = read_secrets(exchange, body)) return exchange.answer(*refused);
  const auto change = parse_password_change(body.json());
  if (!change || !wire::is_valid_password(change->new_password)) return exchange.answer(422);
  const wire::Credentials account{exchange.user, change->old_password};
  if (wire::refusal_of(account)) return exchange.answer(401);
  const auto answer =
      parts.log_in.change_password(exchange.client, {account, change->new_password});
  serve::log_request("password", exchange.user, answer.status);
  if (!answer.status) return answer_refusal(exchange, answer);
  if (exchange.is_by_session) return answer_with_cookie(exchange, cookie_of(exchange, {}, 0));
  exchange.connection().send(exchange.begin(204).finish());
}

}  // namespace fileserver
