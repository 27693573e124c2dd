#include <fmt/core.h>

#include <algorithm>
#include <array>
#include <optional>
#include <string>

#include "base/json_text.h"
#include "base/log.h"
#include "fileserver/http/account_json.h"
#include "fileserver/http/asker.h"
#include "fileserver/http/page.h"
#include "fileserver/http/secret_body.h"
#include "fileserver/http/server_paths.h"
#include "fileserver/http/token_json.h"
#include "fileserver/http/validated.h"

namespace fileserver {

namespace {

using WishKind = wire::Wish::Kind;

// What an administrator changes, by a POST to the path of this name.
constexpr std::array kChanges{WishKind::kAdd,    WishKind::kReset,  WishKind::kDisable,
                              WishKind::kEnable, WishKind::kRemove, WishKind::kEnd};

std::optional<WishKind> change_of(std::string_view name) {
  for (const WishKind kind : kChanges) {
    if (wire::word_of(kind) == name) return kind;
  }
  return {};
}

// What one asks for: by a GET with the user behind the name, or by a POST with the user in its
// body. No path leads to users called "." and "..".
constexpr std::array<std::string_view, 3> kQuestions{"list", "rights", "sessions"};

bool is_question(std::string_view name) { return std::ranges::count(kQuestions, name) != 0; }

// Who stops being one meanwhile learns nothing either.
void refuse_wish(Exchange& exchange, const base::Error& error) {
  if (error.code == base::ErrorCode::kDenied) return exchange.answer(404);
  exchange.answer(error);
}

// As they stand now, also for who has no account yet.
void tell_rights(Exchange& exchange, Parts& parts, std::string_view user) {
  std::string json = "[";
  for (const auto& [path, decision] : parts.rights.of(user).decided()) {
    json += fmt::format(
        "{}{{\"path\": {}, \"may\": \"{}\", \"line\": {}}}", json.size() == 1 ? "\n" : ",\n",
        base::json_text("/" + path, base::JsonText::kUtf8), word_of(decision.right), decision.line);
  }
  send_json(exchange, 200, json += "\n]\n");
}

// Requires: is_question(name).
void tell(Exchange& exchange, Parts& parts, const Asker& asker, std::string_view name,
          std::string_view user) {
  if (name == "rights") return tell_rights(exchange, parts, user);
  const bool is_list = name == wire::word_of(WishKind::kList);
  const auto told = asker.ask(parts, {is_list ? WishKind::kList : WishKind::kSessions, user});
  if (!told) return refuse_wish(exchange, told.error());
  send_json(exchange, 200, is_list ? users_as_json(*told) : tokens_as_json(*told));
}

void answer_get(Exchange& exchange, Parts& parts, const Asker& asker, std::string_view what) {
  const std::string_view name = take_piece(what, '/');
  const bool is_of_all = what.empty() && name == wire::word_of(WishKind::kList);
  if (!is_question(name) || !(is_of_all || wire::is_valid_user(what))) return exchange.answer(404);
  tell(exchange, parts, asker, name, what);
}

void answer_question(Exchange& exchange, Parts& parts, const Asker& asker, std::string_view name) {
  SecretBody body;
  if (const auto refused = read_secrets(exchange, body)) return exchange.answer(*refused);
  const auto user = parse_text(body.json(), "user");
  if (!user || !wire::is_valid_user(*user)) return exchange.answer(422);
  tell(exchange, parts, asker, name, *user);
}

void send_invitation(Exchange& exchange, std::string_view user, std::string& token) {
  std::string json =
      fmt::format("{{\"user\": {}, \"link\": \"/{}#{}\"}}\n",
                  base::json_text(user, base::JsonText::kUtf8), kInvitationPath, token);
  send_json(exchange, 201, json);
  for (std::string* const secret : {&token, &json})
    ::explicit_bzero(secret->data(), secret->size());
}

void change(Exchange& exchange, Parts& parts, const Asker& asker, WishKind kind) {
  SecretBody body;
  if (const auto refused = read_secrets(exchange, body)) return exchange.answer(*refused);
  wire::Wish wish{kind};
  if (kind == WishKind::kEnd) {
    const auto texts = parse_two_texts(body.json(), "user", "id");
    if (!texts) return exchange.answer(422);
    wish.user = texts->first;
    wish.operand = texts->second;
  } else {
    const auto user = parse_text(body.json(), "user");
    if (!user) return exchange.answer(422);
    wish.user = *user;
  }
  if (!wire::is_valid_user(wish.user)) return exchange.answer(422);
  auto told = asker.ask(parts, wish);
  if (!told) return refuse_wish(exchange, told.error());
  base::log::info("account changed by={} did={} user={} address={}", exchange.user,
                  wire::word_of(kind), wish.user, exchange.client.text());
  if (kind == WishKind::kAdd || kind == WishKind::kReset)
    return send_invitation(exchange, wish.user, *told);
  exchange.connection().send(exchange.begin(204).finish());
}

}  // namespace

void administrate(Exchange& exchange, Parts& parts) {
  const Asker asker(exchange.head());
  const auto who = asker.ask(parts, {WishKind::kWho});
  if (!who) return refuse_wish(exchange, who.error());
  const Person person = parse_person(*who);
  if (!person.is_admin || person.by == "app" || exchange.path()->ends_with_slash)
    return exchange.answer(404);
  const std::string_view what = exchange.path()->name.substr(kAdminPaths.size());
  const bool is_post = exchange.method() == http::Method::kPost;
  if (!is_post && what == kPeople) return send_own_page(exchange, people_page(person));
  if (!is_post) return answer_get(exchange, parts, asker, what);
  const auto kind = change_of(what);
  if (!kind && !is_question(what)) return exchange.answer(404);
  if (is_from_other_site(exchange.head())) return exchange.answer(403);
  if (!kind) return answer_question(exchange, parts, asker, what);
  change(exchange, parts, asker, *kind);
}

// For who has a link: the page that it leads to.
void get_invitation(Exchange& exchange, Parts&) { send_own_page(exchange, invitation_page()); }

void use_invitation(Exchange& exchange, Parts& parts) {
  if (is_from_other_site(exchange.head())) return exchange.answer(403);
  SecretBody body;
  if (const auto refused = read_secrets(exchange, body)) return exchange.answer(*refused);
  const auto texts = parse_two_texts(body.json(), "token", "new");
  if (!texts || !wire::is_valid_password(texts->second)) return exchange.answer(422);
  if (!wire::is_token(texts->first)) return exchange.answer(401);
  const wire::Wish wish{WishKind::kPassword, {}, texts->second};
  const auto done = parts.auth.ask(wire::As{texts->first, {}, wish});
  if (!done) return exchange.answer(done.error());
  exchange.connection().send(exchange.begin(204).finish());
}

}  // namespace fileserver
