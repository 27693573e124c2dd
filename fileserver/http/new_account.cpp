#include "fileserver/http/server_paths.h"

#include "fileserver/http/account_json.h"
#include "fileserver/http/exchange.h"
#include "fileserver/http/secret_body.h"
#include "fileserver/http/validated.h"
#include "fileserver/parts.h"
#include "serve/answer.h"

namespace fileserver {

void make_account(Exchange& exchange, Parts& parts) {
  exchange.verb = telemetry::Verb::kNew;
  if (parts.offer.new_accounts == NewAccounts::kClosed) return exchange.answer(403);
  if (is_from_other_site(exchange.head())) return exchange.answer(403);
  SecretBody body;
  if (const auto refused = read_secrets(exchange, body)) return exchange.answer(*refused);
  const auto account = parse_account(body.json());
  if (!account || wire::refusal_of(*account)) return exchange.answer(422);
  if (parts.is_reserved(account->user)) return exchange.answer(403);
  const auto made = parts.sign_up.make({exchange.stream().peer(), exchange.client}, *account);
  serve::log_request("new", account->user, made.status);
  if (made.is_throttled) return exchange.answer(429);
  if (!made.status) return exchange.answer(made.status.error());
  exchange.answer(201);
}

}  // namespace fileserver
