#include "fileserver/http/guests.h"

#include <fmt/core.h>
#include <string.h>
#include <sys/stat.h>

#include <array>
#include <utility>

#include "base/waits.h"
#include "fileserver/http/asker.h"
#include "fileserver/http/exchange.h"
#include "fileserver/http/methods.h"
#include "fileserver/http/page.h"
#include "fileserver/http/permitted.h"
#include "fileserver/http/server_paths.h"
#include "fileserver/http/upload_parts.h"
#include "fileserver/parts.h"
#include "http/basic.h"
#include "http/content_type.h"

namespace fileserver {

namespace {

using http::Method;

bool reads(Method method) { return method == Method::kGet || method == Method::kHead; }

// Of the password that the request has; the user beside it may be anything.
std::string secret_of(const http::RequestHead& head) {
  std::array<char, http::kMaxBasicBytes> bytes;
  const auto basic = http::parse_basic(head.value(http::Field::kAuthorization), bytes);
  std::string secret = basic ? secret_of_link(basic->password) : std::string();
  ::explicit_bzero(bytes.data(), bytes.size());
  return secret;
}

// The dialogue of the browser asks for it, and no page of ours.
void ask_for_password(Exchange& exchange) {
  http::AnswerHead head = exchange.begin(401);
  head.field("WWW-Authenticate", "Basic realm=\"link\", charset=\"UTF-8\"")
      .field("Cache-Control", "no-store");
  exchange.send_text(head, "text/plain; charset=utf-8",
                     "This link has a password. Any user name will do.\n");
}

void refuse(Exchange& exchange, const LogIn::Answer& answer) {
  if (answer.is_throttled) return exchange.answer(429);
  if (answer.status.error().code == base::ErrorCode::kDenied) return exchange.answer(404);
  exchange.answer(answer.status.error());
}

// Counts one use, if uses are counted. Answers and returns false if there is none left.
bool takes_use(Exchange& exchange, Parts& parts) {
  const Guest& guest = *exchange.guest;
  if (!guest.link.counts_uses) return true;
  const auto used =
      parts.log_in.visit(exchange.client, guest.token, guest.secret, LogIn::Visit::kUses);
  if (!used.answer.status) {
    refuse(exchange, used.answer);
  } else if (!used.link) {
    ask_for_password(exchange);  // it is another one now
  }
  return used.answer.status && used.link;
}

bool is_regular(Parts& parts, std::string_view name) {
  const auto status = base::may_block([&] { return parts.fence->status_of_readable(name); });
  return status && S_ISREG(status->st_mode);
}

// What a browser shows has the name of the file, though its address has none.
std::string name_to_show(std::string_view name) {
  return "inline; filename*=UTF-8''" + http::encode_path(name.substr(name.rfind('/') + 1));
}

void zip_for_guest(Exchange& exchange, Parts& parts) {
  const std::string_view folder = exchange.path()->name;
  if (server_path(exchange.path()) != nullptr || !exchange.rights.may_list(folder))
    return exchange.answer(404);
  if (exchange.method() == Method::kGet && !takes_use(exchange, parts)) return;
  exchange.aim_at(folder.empty() ? "-/zip" : fmt::format("{}{}", kZipPaths, folder), true);
  get_zip(exchange, parts);
}

// `rest` is what follows the token. The path of a file that the link names may repeat its name.
void read_as_guest(Exchange& exchange, Parts& parts, std::string_view rest, bool ends_with_slash) {
  if (!reads(exchange.method())) return exchange.answer_not_allowed("GET, HEAD, OPTIONS");
  const GuestLink& link = exchange.guest->link;
  if (!link.is_folder) {
    if (!rest.empty() && (ends_with_slash || rest != title_for_guest(*exchange.guest)))
      return exchange.answer(404);
    if (rest.empty())
      exchange.further_fields.emplace_back("Content-Disposition", name_to_show(link.path));
    exchange.aim_at(link.path, false);
  } else {
    exchange.aim_at(link.path.empty() || rest.empty() ? link.path + std::string(rest)
                                                      : fmt::format("{}/{}", link.path, rest),
                    ends_with_slash);
  }
  const bool is_folder = exchange.path()->ends_with_slash;
  if (is_folder && link.is_folder && exchange.head().target().ends_with("?zip"))
    return zip_for_guest(exchange, parts);
  if (server_path(exchange.path()) != nullptr) return exchange.answer(404);
  const bool is_file = !is_folder && exchange.rights.may_read(exchange.path()->name) &&
                       is_regular(parts, exchange.path()->name);
  if (!is_file && !link.is_folder) return exchange.answer(404);
  if (is_file && exchange.method() == Method::kGet && !takes_use(exchange, parts)) return;
  answer_within_rights(exchange, parts, handler_of(exchange.method(), is_folder, parts.offer));
}

// A name that nothing in the folder has: "a.txt", "a (2).txt" and so on.
std::string free_name(Parts& parts, std::string_view folder, std::string_view name) {
  constexpr int kMostTries = 1000;
  const std::size_t dot = name.rfind('.');
  const bool has_ending = dot != std::string_view::npos && dot > 0;
  const std::string_view stem = has_ending ? name.substr(0, dot) : name;
  const std::string_view ending = has_ending ? name.substr(dot) : std::string_view();
  const std::string above = folder.empty() ? std::string() : fmt::format("{}/", folder);
  std::string free = fmt::format("{}{}", above, name);
  base::may_block([&] {
    for (int number = 2; number < kMostTries && parts.fence->status_of_readable(free); ++number)
      free = fmt::format("{}{} ({}){}", above, stem, number, ending);
  });
  return free;
}

// Nothing that is there is replaced, or told of.
void put_as_guest(Exchange& exchange, Parts& parts, std::string_view rest, bool ends_with_slash) {
  const bool is_name =
      !rest.empty() && !ends_with_slash && rest.find('/') == std::string_view::npos;
  if (!is_name) return exchange.answer(404);
  if (comes_in_parts(exchange, parts)) return exchange.answer(501);
  const std::string& folder = exchange.guest->link.path;
  exchange.aim_at(free_name(parts, folder, rest), false);
  if (server_path(exchange.path()) != nullptr) return exchange.answer(404);
  const Handler handler = handler_of(Method::kPut, false, parts.offer);
  if (handler != &put_file) return exchange.answer(403);
  if (refusal_to_put(exchange.rights, exchange.path()->name)) return exchange.answer(404);
  if (!takes_use(exchange, parts)) return;
  answer_within_rights(exchange, parts, handler);
}

void drop_as_guest(Exchange& exchange, Parts& parts, std::string_view rest, bool ends_with_slash) {
  if (exchange.method() == Method::kPut)
    return put_as_guest(exchange, parts, rest, ends_with_slash);
  if (!rest.empty()) return exchange.answer(404);
  http::AnswerHead head = exchange.begin(200);
  head.field("Cache-Control", "no-store").field("Content-Security-Policy", kScriptedPagePolicy);
  exchange.send_text(head, "text/html; charset=utf-8", drop_page(title_for_guest(*exchange.guest)));
}

Right most_of(wire::GuestsMay may) {
  return may == wire::GuestsMay::kRead ? Right::kRead : Right::kReadWrite;
}

}  // namespace

void answer_guest(Exchange& exchange, Parts& parts) {
  exchange.verb = telemetry::Verb::kFile;
  // No page that it leads to is told the address, which is all that a guest needs.
  exchange.further_fields.emplace_back("Referrer-Policy", "no-referrer");
  exchange.further_fields.emplace_back("X-Robots-Tag", "noindex");
  const bool ends_with_slash = exchange.path()->ends_with_slash;
  const std::string asked(exchange.path()->name.substr(kGuestPaths.size()));
  exchange.aim_at("-/l", false);  // no log has the token
  std::string_view rest = asked;
  const std::string_view token = take_piece(rest, '/');
  if (!wire::is_token(token)) return exchange.answer(404);
  std::string secret = secret_of(exchange.head());
  auto visited = parts.log_in.visit(exchange.client, token, secret, LogIn::Visit::kLooks);
  if (!visited.answer.status) return refuse(exchange, visited.answer);
  if (!visited.link) return ask_for_password(exchange);
  exchange.user = visited.link->maker;
  exchange.guest = Guest{std::string(token), std::move(secret), std::move(*visited.link)};
  exchange.validated_ns = base::now_ns();
  exchange.rights = rights_of(exchange, parts);
  if (rest.empty() && !ends_with_slash) return redirect_to(exchange, fmt::format("{}/", token));
  if (exchange.guest->link.may == wire::GuestsMay::kRead)
    return read_as_guest(exchange, parts, rest, ends_with_slash);
  drop_as_guest(exchange, parts, rest, ends_with_slash);
}

LogIn::Answer ask_again_for_guest(const Exchange& exchange, Parts& parts) {
  const Guest& guest = *exchange.guest;
  auto visited =
      parts.log_in.visit(exchange.client, guest.token, guest.secret, LogIn::Visit::kGoesOn);
  if (visited.answer.status && !visited.link)
    return {base::Error{base::ErrorCode::kDenied, "the link has a password now"}};
  return std::move(visited.answer);
}

UserRights rights_of(const Exchange& exchange, const Parts& parts) {
  UserRights rights = parts.rights.of(exchange.user);
  if (!exchange.guest) return rights;
  const GuestLink& link = exchange.guest->link;
  return rights.within({link.path, link.is_folder, most_of(link.may)});
}

std::string_view name_for_guest(const Guest& guest, std::string_view folder) {
  const std::string& path = guest.link.path;
  if (path.empty() || folder.size() <= path.size()) return path.empty() ? folder : "";
  return folder.substr(path.size() + 1);
}

std::string_view title_for_guest(const Guest& guest) {
  const std::string_view path = guest.link.path;
  return path.substr(path.rfind('/') + 1);
}

}  // namespace fileserver
