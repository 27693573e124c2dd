#include "fileserver/http/server_paths.h"

#include <algorithm>
#include <array>

#include "fileserver/http/exchange.h"
#include "fileserver/http/file_digest.h"
#include "fileserver/http/folder_entries.h"
#include "fileserver/http/guests.h"
#include "fileserver/http/page.h"
#include "fileserver/http/upload_parts.h"
#include "fileserver/parts.h"
#include "http/syntax.h"

namespace fileserver {

namespace {

using http::Method;

// Whether this fileserver can validate anybody: its authserver answers.
void tell_health(Exchange& exchange, Parts& parts) {
  exchange.verb = telemetry::Verb::kPing;
  const bool is_well = parts.health.ask(wire::Ping{}).ok();
  http::AnswerHead head = exchange.begin(is_well ? http::Status(200) : http::Status(503));
  head.field("Cache-Control", "no-store");
  if (!is_well) head.field("Retry-After", "1");
  exchange.send_text(head, "text/plain; charset=utf-8",
                     is_well ? "OK\n" : "the authserver does not answer\n");
}

// Whether this fileserver answers. Never asks the authserver.
void tell_life(Exchange& exchange, Parts&) {
  exchange.verb = telemetry::Verb::kPing;
  http::AnswerHead head = exchange.begin(http::Status(200));
  head.field("Cache-Control", "no-store");
  exchange.send_text(head, "text/plain; charset=utf-8", "OK\n");
}

constexpr std::array kServerPaths{
    ServerPath{"-/accounts", "POST, OPTIONS", Method::kPost, &make_account},
    ServerPath{"-/session", "POST, DELETE, OPTIONS", Method::kPost, &open_session,
               ServerPath::For::kAnybody, false, &close_session},
    ServerPath{"-/whoami", "GET, HEAD, OPTIONS", Method::kGet, &tell_who, ServerPath::For::kUsers},
    ServerPath{"-/password", "POST, OPTIONS", Method::kPost, &change_password,
               ServerPath::For::kUsers},
    ServerPath{kAccountPath, "GET, HEAD, OPTIONS", Method::kGet, &get_account,
               ServerPath::For::kUsers},
    ServerPath{"-/apps", "GET, HEAD, POST, OPTIONS", Method::kGet, &list_apps,
               ServerPath::For::kUsers, false, nullptr, &make_app},
    ServerPath{kAppPaths, "DELETE, OPTIONS", Method::kDelete, &revoke_app, ServerPath::For::kUsers,
               false, &revoke_app},
    ServerPath{"-/links", "GET, HEAD, POST, OPTIONS", Method::kGet, &list_links,
               ServerPath::For::kUsers, false, nullptr, &make_link},
    ServerPath{kLinkPaths, "DELETE, OPTIONS", Method::kDelete, &revoke_link,
               ServerPath::For::kUsers, false, &revoke_link},
    ServerPath{.name = kGuestPaths,
               .allowed = "GET, HEAD, PUT, OPTIONS",
               .method = Method::kGet,
               .handler = &answer_guest,
               .putter = &answer_guest},
    ServerPath{kAdminPaths, "GET, HEAD, POST, OPTIONS", Method::kGet, &administrate,
               ServerPath::For::kUsers, false, nullptr, &administrate},
    ServerPath{kInvitationPath, "GET, HEAD, POST, OPTIONS", Method::kGet, &get_invitation,
               ServerPath::For::kAnybody, false, nullptr, &use_invitation},
    ServerPath{"-/health", "GET, HEAD, OPTIONS", Method::kGet, &tell_health},
    ServerPath{"-/live", "GET, HEAD, OPTIONS", Method::kGet, &tell_life},
    ServerPath{kStylePath, "GET, HEAD, OPTIONS", Method::kGet, &get_page_file},
    ServerPath{kCommonScriptPath, "GET, HEAD, OPTIONS", Method::kGet, &get_page_file},
    ServerPath{kScriptPath, "GET, HEAD, OPTIONS", Method::kGet, &get_page_file},
    ServerPath{kAccountScriptPath, "GET, HEAD, OPTIONS", Method::kGet, &get_page_file},
    ServerPath{kShowScriptPath, "GET, HEAD, OPTIONS", Method::kGet, &get_page_file},
    ServerPath{kDigestPaths, "GET, HEAD, OPTIONS", Method::kGet, &get_digest,
               ServerPath::For::kUsers},
    ServerPath{kZipPaths, "GET, HEAD, OPTIONS", Method::kGet, &get_zip, ServerPath::For::kUsers,
               true},
    ServerPath{kSearchPaths, "GET, HEAD, OPTIONS", Method::kGet, &search_below,
               ServerPath::For::kUsers, true},
    ServerPath{kTrashPaths, "GET, HEAD, POST, DELETE, OPTIONS", Method::kGet, &list_trash,
               ServerPath::For::kUsers, true, &end_trashed, &put_back_trashed},
    ServerPath{kPartsPaths, "POST, PUT, HEAD, PATCH, DELETE, OPTIONS", Method::kPatch, &take_part,
               ServerPath::For::kUsers, true, nullptr, nullptr, nullptr, &tell_of_parts},
    ServerPath{kTusPaths, "POST, HEAD, PATCH, DELETE, OPTIONS", Method::kPatch, &take_tus,
               ServerPath::For::kUsers, true, nullptr, nullptr, nullptr, &tell_of_tus},
};
constexpr ServerPath kNothing{"", "OPTIONS", Method::kOther, nullptr};

bool is_named_in(std::string_view methods, Method method) {
  while (!methods.empty()) {
    if (http::take_element(methods) == http::text_of(method)) return true;
  }
  return false;
}

bool is_at(const ServerPath& ours, const http::Path& path) {
  if (!ours.name.ends_with('/')) return ours.name == path.name && !path.ends_with_slash;
  const std::string_view top = ours.name.substr(0, ours.name.size() - 1);
  if (ours.has_top && path.ends_with_slash && path.name == top) return true;
  return path.name.starts_with(ours.name);
}

}  // namespace

Handler ServerPath::handler_of(Method asked) const {
  if (is_for_uploads()) return is_named_in(allowed, asked) ? handler : nullptr;
  if (asked == Method::kDelete) return remover;
  if (asked == Method::kPut) return putter;
  if (asked == Method::kPost && poster != nullptr) return poster;
  const bool is_allowed = asked == method || (asked == Method::kHead && method == Method::kGet);
  return is_allowed ? handler : nullptr;
}

const ServerPath* server_path(const std::optional<http::Path>& path) {
  if (!path) return nullptr;
  const bool is_prefix = path->name == "-" && path->ends_with_slash;
  if (!is_prefix && !path->name.starts_with("-/")) return nullptr;
  for (const ServerPath& ours : kServerPaths) {
    if (is_at(ours, *path)) return &ours;
  }
  return &kNothing;
}

std::optional<std::string_view> folder_behind(std::string_view ours, const Exchange& exchange,
                                              const Parts& parts) {
  const http::Path& path = *exchange.path();
  const std::string_view folder = path.name.substr(std::min(ours.size(), path.name.size()));
  const bool is_file = folder == kServerFolder || folder.starts_with("-/") || !path.ends_with_slash;
  if (!parts.offer.has_listings || is_file || !exchange.rights.may_list(folder)) return {};
  return folder;
}

}  // namespace fileserver
