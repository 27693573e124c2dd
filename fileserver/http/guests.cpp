#include "fileserver/http/guests.h"

#include <fmt/core.h>
#include <sodium.h>
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
#include "serve/answer.h"

namespace fileserver {

namespace {

using http::Method;

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

std::optional<http::Status> refusal_of(const LogIn::Answer& answer) {
  if (answer.status) return {};
  if (answer.is_throttled) return http::Status(429);
  const base::Error& error = answer.status.error();
  if (error.code == base::ErrorCode::kDenied) return http::Status(404);
  serve::log_failure(error);
  const bool may_ask_again =
      error.code == base::ErrorCode::kUnavailable || error.code == base::ErrorCode::kBusy;
  return may_ask_again ? http::Status(503) : http::Status(500);
}

// What lies in the share where the request was aimed at.
enum class There : std::uint8_t { kNothing, kFile, kFolder };

base::Result<There> what_is_at(Parts& parts, std::string_view name) {
  if (name.empty()) return There::kFolder;
  const auto status = base::may_block([&] { return parts.fence->status_of_readable(name); });
  if (!status && status.error().code != base::ErrorCode::kNotFound) return status.error();
  if (!status) return There::kNothing;
  if (S_ISDIR(status->st_mode)) return There::kFolder;
  return S_ISREG(status->st_mode) ? There::kFile : There::kNothing;
}

// What a browser shows has the name of the file, though its address has none.
std::string name_to_show(std::string_view name) {
  return "inline; filename*=UTF-8''" + http::encode_path(name.substr(name.rfind('/') + 1));
}

// What a guest asks for, behind the token.
struct Asked {
  std::string_view token;
  std::string_view rest;
  bool ends_with_slash;

  // Whether it is the address without its last slash.
  bool is_cut() const { return rest.empty() && !ends_with_slash; }
};

void read_folder(Exchange& exchange, Parts& parts, const Asked& asked) {
  const std::string folder(exchange.path()->name);
  if (!exchange.rights.may_list(folder)) return exchange.answer(404);
  if (asked.is_cut()) return redirect_to(exchange, fmt::format("{}/", asked.token));
  if (!asked.ends_with_slash) return redirect_to_folder(exchange);
  if (http::query_values(exchange.head().target(), "zip").empty())
    return get_folder(exchange, parts);
  exchange.aim_at(folder.empty() ? "-/zip" : fmt::format("{}{}", kZipPaths, folder), true);
  get_zip(exchange, parts);
}

void read_file(Exchange& exchange, Parts& parts, const Asked& asked) {
  const std::string_view name = exchange.path()->name;
  if (!exchange.rights.may_read(name) || (asked.ends_with_slash && !asked.rest.empty()))
    return exchange.answer(404);
  if (asked.is_cut()) return redirect_to(exchange, fmt::format("{}/", asked.token));
  if (asked.rest.empty())
    exchange.further_fields.emplace_back("Content-Disposition", name_to_show(name));
  get_file(exchange, parts);
}

// The path of a file that the link names may repeat its name.
void read_as_guest(Exchange& exchange, Parts& parts, const Asked& asked) {
  const Method method = exchange.method();
  if (method != Method::kGet && method != Method::kHead)
    return exchange.answer_not_allowed("GET, HEAD, OPTIONS");
  const GuestLink& link = exchange.guest->link;
  const std::string_view rest =
      !link.is_folder && asked.rest == title_for_guest(*exchange.guest) ? "" : asked.rest;
  if (!link.is_folder && !rest.empty()) return exchange.answer(404);
  exchange.aim_at(joined(link.path, rest), asked.ends_with_slash);
  if (server_path(exchange.path()) != nullptr) return exchange.answer(404);
  const auto there = what_is_at(parts, exchange.path()->name);
  if (!there) return exchange.answer(there.error());
  switch (*there) {
    case There::kNothing: return exchange.answer(404);
    case There::kFile: return read_file(exchange, parts, asked);
    case There::kFolder:
      return link.is_folder ? read_folder(exchange, parts, asked) : exchange.answer(404);
  }
}

void show_drop_page(Exchange& exchange, const Asked& asked) {
  if (asked.is_cut()) return redirect_to(exchange, fmt::format("{}/", asked.token));
  send_own_page(exchange, drop_page(title_for_guest(*exchange.guest)));
}

// Nothing that is there is replaced, or told of.
void drop_as_guest(Exchange& exchange, Parts& parts, const Asked& asked) {
  const std::string& folder = exchange.guest->link.path;
  const auto there = what_is_at(parts, folder);
  if (!there) return exchange.answer(there.error());
  if (*there != There::kFolder || !exchange.rights.may_write(folder)) return exchange.answer(404);
  const bool is_put = exchange.method() == Method::kPut;
  if (!is_put) return asked.rest.empty() ? show_drop_page(exchange, asked) : exchange.answer(404);
  if (asked.rest.empty() || asked.ends_with_slash || asked.rest.find('/') != std::string_view::npos)
    return exchange.answer(404);
  if (parts.offer.uploads != UploadMode::kFolder) return exchange.answer(403);
  if (comes_in_parts(exchange, parts)) return exchange.answer(501);
  exchange.aim_at(joined(folder, asked.rest), false);
  const bool may_put = server_path(exchange.path()) == nullptr &&
                       !refusal_to_put(exchange.rights, exchange.path()->name);
  if (!may_put) return exchange.answer(404);
  put_file(exchange, parts);
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
  const std::string path(exchange.path()->name.substr(kGuestPaths.size()));
  Asked asked{{}, path, exchange.path()->ends_with_slash};
  asked.token = take_piece(asked.rest, '/');
  exchange.aim_at("-/l", false);  // no log has the token
  if (!wire::is_token(asked.token)) return exchange.answer(404);
  std::string secret = secret_of(exchange.head());
  auto visited = parts.log_in.visit(exchange.client, asked.token, secret, LogIn::Visit::kLooks);
  if (const auto refused = refusal_of(visited.answer)) return exchange.answer(*refused);
  if (!visited.link) return ask_for_password(exchange);
  // Such a condition may name other paths of the share, which a guest is not told of.
  if (exchange.head().has(http::Field::kIf)) return exchange.answer(412);
  exchange.user = visited.link->maker;
  exchange.guest = Guest{std::string(asked.token), std::move(secret), std::move(*visited.link)};
  exchange.validated_ns = base::now_ns();
  exchange.stream().note_granted();
  exchange.rights = rights_of(exchange, parts);
  if (exchange.guest->link.may == wire::GuestsMay::kRead)
    return read_as_guest(exchange, parts, asked);
  drop_as_guest(exchange, parts, asked);
}

bool counts_uses(const Exchange& exchange) {
  return exchange.guest && exchange.guest->link.counts_uses;
}

std::optional<http::Status> refusal_of_use(const Exchange& exchange, Parts& parts) {
  if (!counts_uses(exchange)) return {};
  const Guest& guest = *exchange.guest;
  const auto used =
      parts.log_in.visit(exchange.client, guest.token, guest.secret, LogIn::Visit::kUses);
  if (const auto refused = refusal_of(used.answer)) return refused;
  return used.link ? std::nullopt : std::optional(http::Status(404));
}

std::string other_name(std::string_view name, int tries) {
  constexpr int kInOrder = 16;
  constexpr std::size_t kMostBytes = 255;  // of the last part
  constexpr std::size_t kLongestEnding = 32;
  const std::size_t begin = name.rfind('/') + 1;
  const std::size_t dot = name.rfind('.');
  const bool has_ending =
      dot != std::string_view::npos && dot > begin && name.size() - dot <= kLongestEnding;
  const std::string_view ending = has_ending ? name.substr(dot) : std::string_view();
  std::string_view stem = name.substr(0, name.size() - ending.size());
  const std::uint32_t count = tries <= kInOrder ? static_cast<std::uint32_t>(tries) + 1
                                                : ::randombytes_uniform(1'000'000'000);
  const std::string number = fmt::format(" ({})", count);
  const auto is_inside_letter = [&] { return (stem.back() & 0xc0) == 0x80; };
  while (stem.size() > begin + 1 &&
         stem.size() - begin + number.size() + ending.size() > kMostBytes) {
    while (stem.size() > begin + 1 && is_inside_letter()) stem.remove_suffix(1);
    stem.remove_suffix(1);
  }
  return fmt::format("{}{}{}", stem, number, ending);
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
