#include <fmt/core.h>
#include <string.h>
#include <sys/stat.h>

#include <ctime>
#include <optional>
#include <span>
#include <string>

#include "base/waits.h"
#include "fileserver/auth/guest_link.h"
#include "fileserver/http/account_json.h"
#include "fileserver/http/asker.h"
#include "fileserver/http/folder_entries.h"
#include "fileserver/http/guests.h"
#include "fileserver/http/permitted.h"
#include "fileserver/http/secret_body.h"
#include "fileserver/http/server_paths.h"
#include "fileserver/http/token_json.h"
#include "fileserver/http/validated.h"

namespace fileserver {

namespace {

using WishKind = wire::Wish::Kind;

// A link that was asked for, with its texts copied out of the body.
struct NewLink {
  wire::GuestsMay may;
  std::int64_t seconds;  // 0: no end
  std::int64_t uses;     // 0: any number
  std::string secret;
  std::string name;  // without a slash at its end; empty: the served folder
};

// Nothing for what is no link, whatever lies in the folder.
std::optional<NewLink> new_link_of(std::span<char> json) {
  const auto asked = parse_link(json);
  if (!asked) return {};
  const auto may = wire::parse_guests_may(asked->may);
  std::string_view name = asked->path;
  if (name.empty() || name.starts_with("//")) return {};
  if (name.starts_with('/')) name.remove_prefix(1);
  if (name.ends_with('/')) name.remove_suffix(1);
  if (!may || name.size() >= wire::kMaxLinkPathBytes) return {};
  if (!name.empty() && (!wire::is_file_name(name) || !http::is_path_name(name))) return {};
  const std::int64_t seconds = asked->end ? *asked->end - std::time(nullptr) : 0;
  if (asked->end && (seconds < 1 || seconds > wire::kMaxLinkSeconds)) return {};
  if (asked->uses && (*asked->uses < 1 || *asked->uses > wire::kMaxLinkUses)) return {};
  if (asked->password && !wire::is_valid_password(*asked->password)) return {};
  return NewLink{*may, seconds, asked->uses.value_or(0),
                 secret_of_link(asked->password.value_or(std::string_view())), std::string(name)};
}

// Whether the path is there, and what its user may do with it now. `is_folder` is set.
RightsRefusal refusal_of_link(const Exchange& exchange, Parts& parts, const NewLink& link,
                              bool& is_folder) {
  const http::Path path{link.name, false};
  if (server_path(path) != nullptr || link.name == kServerFolder) return http::Status(404);
  const auto status =
      link.name.empty()
          ? base::Result<struct stat>(base::Error{base::ErrorCode::kNotFound, "the served folder"})
          : base::may_block([&] { return parts.fence->status_of_readable(link.name); });
  is_folder = link.name.empty() || (status && S_ISDIR(status->st_mode));
  const UserRights& rights = exchange.rights;
  const bool is_seen = is_folder ? rights.may_list(link.name) : rights.may_read(link.name);
  if (!is_seen || (!is_folder && !status)) return http::Status(404);
  if (link.may == wire::GuestsMay::kRead) return {};
  if (!is_folder) return http::Status(422);
  const bool takes_files = parts.offer.uploads == UploadMode::kFolder;
  return takes_files && rights.may_read(link.name) && rights.may_write(link.name)
             ? RightsRefusal()
             : http::Status(403);
}

void send_link(Exchange& exchange, std::string& told) {
  std::string_view rest = told;
  const std::string_view id = take_piece(rest, ' ');
  std::string address = fmt::format("/{}{}/", kGuestPaths, rest);
  std::string json = fmt::format("{{\"id\": \"{}\", \"address\": \"{}\"}}\n", id, address);
  exchange.further_fields.emplace_back("Location", address);
  send_json(exchange, 201, json);
  for (std::string* const secret : {&told, &json, &address, &exchange.further_fields.back().second})
    ::explicit_bzero(secret->data(), secret->size());
}

}  // namespace

void list_links(Exchange& exchange, Parts& parts) {
  const auto told = Asker(exchange.head()).ask(parts, {WishKind::kLinks});
  if (!told) return refuse_program(exchange, told.error());
  send_json(exchange, 200, tokens_as_json(*told));
}

void make_link(Exchange& exchange, Parts& parts) {
  if (is_from_other_site(exchange.head())) return exchange.answer(403);
  const Asker asker(exchange.head());
  SecretBody body;
  if (const auto refused = read_secrets(exchange, body)) return exchange.answer(*refused);
  const auto link = new_link_of(body.json());
  if (!link) return exchange.answer(422);
  bool is_folder = false;
  if (const auto refused = refusal_of_link(exchange, parts, *link, is_folder))
    return exchange.answer(*refused);
  const std::string path = link->name + (is_folder ? "/" : "");
  const std::string operand =
      wire::text_of(wire::LinkWish{link->may, link->seconds, link->uses, link->secret, path});
  auto told = asker.ask(parts, {WishKind::kLink, {}, operand});
  if (!told) return refuse_program(exchange, told.error());
  send_link(exchange, *told);
}

void revoke_link(Exchange& exchange, Parts& parts) {
  if (is_from_other_site(exchange.head())) return exchange.answer(403);
  const std::string_view id = exchange.path()->name.substr(kLinkPaths.size());
  if (!wire::is_token_id(id) || exchange.path()->ends_with_slash) return exchange.answer(404);
  const auto told = Asker(exchange.head()).ask(parts, {WishKind::kUnlink, {}, id});
  if (!told) return refuse_program(exchange, told.error());
  exchange.connection().send(exchange.begin(204).finish());
}

}  // namespace fileserver
