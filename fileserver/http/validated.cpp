#include "fileserver/http/validated.h"

#include <utility>

#include "fileserver/parts.h"
#include "http/syntax.h"

namespace fileserver {

namespace {

using http::Field;

bool is_origin_ours(const http::RequestHead& head, std::string_view origin) {
  constexpr std::string_view kMark = "://";
  const std::size_t mark = origin.find(kMark);
  return mark != std::string_view::npos &&
         http::is_same(origin.substr(mark + kMark.size()), head.value(Field::kHost));
}

bool says_other_site(const http::RequestHead& head) {
  bool is_other = false;
  head.each(Field::kSecFetchSite, [&](std::string_view site) {
    is_other = is_other || http::is_same(site, "cross-site") || http::is_same(site, "same-site");
  });
  return is_other;
}

}  // namespace

Validated validate(const Exchange& exchange, Parts& parts, const RequestCredentials& credentials) {
  if (const auto& account = credentials.account())
    return {parts.log_in.check(exchange.client, Front::kHttp, *account),
            std::string(account->user)};
  if (credentials.token().empty())
    return {{base::Error{base::ErrorCode::kDenied, "the request has no credentials"}}};
  auto user = parts.log_in.user_of(credentials.token());
  if (!user) return {{user.error()}};
  return {{base::kDone}, std::move(*user)};
}

bool is_from_other_site(const http::RequestHead& head) {
  bool is_other = says_other_site(head);
  head.each(Field::kOrigin,
            [&](std::string_view origin) { is_other = is_other || !is_origin_ours(head, origin); });
  return is_other;
}

bool is_part_of_other_site(const http::RequestHead& head) {
  bool is_part = false;
  head.each(Field::kSecFetchDest, [&](std::string_view shown_as) {
    is_part = is_part || !(http::is_same(shown_as, "document") || http::is_same(shown_as, "empty"));
  });
  return is_part && says_other_site(head);
}

bool is_from_our_site(const http::RequestHead& head) {
  if (head.has(Field::kSecFetchSite)) {
    const std::string_view site = head.value(Field::kSecFetchSite);
    return http::is_same(site, "same-origin") || http::is_same(site, "none");
  }
  return is_origin_ours(head, head.value(Field::kOrigin));
}

}  // namespace fileserver
