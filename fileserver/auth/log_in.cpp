#include "fileserver/auth/log_in.h"

#include <fmt/core.h>

#include "base/log.h"
#include "telemetry/counters.h"

namespace fileserver {

namespace {

using base::Error;
using base::ErrorCode;

std::string_view name_of(Front front) {
  switch (front) {
    case Front::kNative: return "native";
    case Front::kHttp: return "http";
  }
  return {};
}

wire::Wish::Kind wish_of(LogIn::Visit visit) {
  switch (visit) {
    case LogIn::Visit::kLooks: return wire::Wish::Kind::kVisit;
    case LogIn::Visit::kUses: return wire::Wish::Kind::kUse;
    case LogIn::Visit::kGoesOn: return wire::Wish::Kind::kGoOn;
  }
  return wire::Wish::Kind::kVisit;
}

// The token of a link is a secret.
std::string_view name_for_log(wire::Credentials account) {
  return account.user.starts_with(':') ? ":link" : account.user;
}

}  // namespace

std::string auth_failed_line(const net::IpAddress& from, std::string_view user, Front front) {
  return fmt::format("auth-failed address={} user={} front={}", from.text(),
                     base::log::quoted(user), name_of(front));
}

LogIn::Answer LogIn::check(const net::IpAddress& from, Front front, wire::Credentials account) {
  return ask(from, front, account,
             [&](AuthClient::Sharing sharing) { return auth_.ask(wire::Auth{account}, sharing); });
}

LogIn::Opened LogIn::open(const net::IpAddress& from, const wire::Open& request) {
  std::string token;
  auto answer = ask(from, Front::kHttp, request.account, [&](auto) -> base::Status {
    auto opened = auth_.ask(request);
    if (!opened) return opened.error();
    token = std::move(*opened);
    return base::kDone;
  });
  return {std::move(answer), std::move(token)};
}

LogIn::Answer LogIn::change_password(const net::IpAddress& from, const wire::NewPassword& request) {
  return ask(from, Front::kHttp, request.account, [&](auto) { return auth_.ask(request); });
}

// To the throttle each link is a user of its own, so that who guesses the password of one shuts no
// other. No account has such a name.
LogIn::Visited LogIn::visit(const net::IpAddress& from, std::string_view token,
                            std::string_view secret, Visit visit) {
  std::string told;
  const auto visit_link = [&](auto) -> base::Status {
    const wire::Wish wish{wish_of(visit), {}, wire::text_of_secret(secret)};
    auto answer = auth_.ask(wire::As{token, {}, wish});
    if (!answer) return answer.error();
    told = std::move(*answer);
    if (told == kClosedLink && !secret.empty())
      return Error{ErrorCode::kDenied, "not the password of the link"};
    return base::kDone;
  };
  const std::string guest = fmt::format(":{}", token);
  Answer answer = secret.empty() ? Answer{visit_link(AuthClient::Sharing::kNotAllowed)}
                                 : ask(from, Front::kHttp, {guest, secret}, visit_link);
  if (told == kClosedLink) return {Answer{base::kDone}};
  if (!answer.status) return {std::move(answer)};
  auto link = parse_guest_link(told);
  if (!link)
    return {Answer{Error{ErrorCode::kInternal, "the authserver does not speak the protocol"}}};
  return {std::move(answer), std::move(link)};
}

template <typename Ask>
LogIn::Answer LogIn::ask(const net::IpAddress& from, Front front, wire::Credentials account,
                         const Ask& ask) {
  auto attempt = throttle_.begin(from, account, patience_ms_);
  switch (attempt.admission()) {
    case GuessThrottle::Admission::kAsk: break;
    case GuessThrottle::Admission::kTooMany:
      telemetry::add(telemetry::Count::kLogInsThrottled);
      return {Error{ErrorCode::kBusy, "too many wrong passwords from " + from.text()}, true};
    case GuessThrottle::Admission::kNoPlace:
      return {Error{ErrorCode::kUnavailable,
                    "the log-ins under way from " + from.text() + " were not answered in time"}};
  }
  // Of such a pair the authserver knows the answer without a password hash.
  const auto sharing =
      attempt.was_right_lately() ? AuthClient::Sharing::kAllowed : AuthClient::Sharing::kNotAllowed;
  base::Status status = ask(sharing);
  if (status) {
    attempt.granted();
  } else if (status.error().code == ErrorCode::kUnavailable) {
    attempt.not_answered();
  } else if (status.error().code == ErrorCode::kDenied) {
    const bool counts = attempt.denied();
    if (base::log::is_on(base::log::Level::kInfo) && (counts || may_log_repetition()))
      base::log::write(base::log::Level::kInfo,
                       auth_failed_line(from, name_for_log(account), front));
  }
  return {std::move(status)};
}

}  // namespace fileserver
