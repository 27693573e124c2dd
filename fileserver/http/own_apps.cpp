#include <fmt/core.h>

#include <string>

#include "base/json_text.h"
#include "fileserver/http/account_json.h"
#include "fileserver/http/asker.h"
#include "fileserver/http/secret_body.h"
#include "fileserver/http/server_paths.h"
#include "fileserver/http/token_json.h"
#include "fileserver/http/validated.h"

namespace fileserver {

namespace {

using WishKind = wire::Wish::Kind;

}  // namespace

void list_apps(Exchange& exchange, Parts& parts) {
  const auto told = Asker(exchange.head()).ask(parts, {WishKind::kApps});
  if (!told) return refuse_program(exchange, told.error());
  send_json(exchange, 200, tokens_as_json(*told));
}

void make_app(Exchange& exchange, Parts& parts) {
  if (is_from_other_site(exchange.head())) return exchange.answer(403);
  const Asker asker(exchange.head());
  SecretBody body;
  if (const auto refused = read_secrets(exchange, body)) return exchange.answer(*refused);
  const auto name = parse_text(body.json(), "name");
  if (!name || !wire::is_app_name(*name)) return exchange.answer(422);
  auto told = asker.ask(parts, {WishKind::kApp, {}, *name});
  if (!told) return refuse_program(exchange, told.error());
  std::string_view rest = *told;
  const std::string_view id = take_piece(rest, ' ');
  std::string json = fmt::format("{{\"id\": \"{}\", \"name\": {}, \"password\": \"{}\"}}\n", id,
                                 base::json_text(*name, base::JsonText::kUtf8), rest);
  send_json(exchange, 201, json);
  for (std::string* const secret : {&*told, &json})
    ::explicit_bzero(secret->data(), secret->size());
}

void revoke_app(Exchange& exchange, Parts& parts) {
  if (is_from_other_site(exchange.head())) return exchange.answer(403);
  const std::string_view id = exchange.path()->name.substr(kAppPaths.size());
  if (!wire::is_token_id(id) || exchange.path()->ends_with_slash) return exchange.answer(404);
  const auto told = Asker(exchange.head()).ask(parts, {WishKind::kRevoke, {}, id});
  if (!told) return refuse_program(exchange, told.error());
  exchange.connection().send(exchange.begin(204).finish());
}

}  // namespace fileserver
