#include "fileserver/http/server_paths.h"

#include <string.h>

#include <algorithm>
#include <array>

#include "base/waits.h"
#include "fileserver/http/account_json.h"
#include "fileserver/http/exchange.h"
#include "fileserver/http/request_body.h"
#include "fileserver/parts.h"
#include "http/syntax.h"
#include "serve/answer.h"

namespace fileserver {

namespace {

constexpr std::size_t kMaxBytes = 4096;

// A body that holds a password, overwritten at the end.
struct WipedBody {
  std::array<char, kMaxBytes> bytes;
  std::size_t size = 0;
  ~WipedBody() { ::explicit_bzero(bytes.data(), size); }

  // Requires: there is room for it.
  void append(std::string_view piece) {
    size += piece.copy(bytes.data() + size, bytes.size() - size);
  }
};

// Whether a browser sends this for a page of another site, which may know nothing of the answer and
// still wants the account. Other programs send neither field.
bool is_from_other_site(const http::RequestHead& head) {
  bool is_other = false;
  head.each(http::Field::kSecFetchSite, [&](std::string_view site) {
    is_other = is_other || http::is_same(site, "cross-site") || http::is_same(site, "same-site");
  });
  head.each(http::Field::kOrigin, [&](std::string_view origin) {
    constexpr std::string_view kMark = "://";
    const std::size_t mark = origin.find(kMark);
    is_other = is_other || mark == std::string_view::npos ||
               !http::is_same(origin.substr(mark + kMark.size()), head.value(http::Field::kHost));
  });
  return is_other;
}

// Returns the status of the answer if the body is not whole.
Refusal read_account(Exchange& exchange, WipedBody& body) {
  exchange.connection().limit_body_to_time_of_head();
  return read_body(exchange, kMaxBytes, [&](std::string_view piece) {
    body.append(piece);
    return Refusal();
  });
}

}  // namespace

void make_account(Exchange& exchange, Parts& parts) {
  exchange.verb = telemetry::Verb::kNew;
  if (parts.offer.new_accounts == NewAccounts::kClosed) return exchange.answer(403);
  if (is_from_other_site(exchange.head())) return exchange.answer(403);
  WipedBody body;
  if (const auto refused = read_account(exchange, body)) return exchange.answer(*refused);
  const auto account = parse_account({body.bytes.data(), body.size});
  if (!account || wire::refusal_of(*account)) return exchange.answer(422);
  if (base::may_block([&] { return parts.is_reserved(account->user); }))
    return exchange.answer(403);
  const auto made = parts.sign_up.make({exchange.stream().peer(), exchange.client}, *account);
  serve::log_request("new", account->user, made.status);
  if (made.is_throttled) return exchange.answer(429);
  if (!made.status) return exchange.answer(made.status.error());
  exchange.answer(201);
}

}  // namespace fileserver
