// The paths below "/-/", which are no files: accounts, sessions, application passwords, links
// for guests, health, life, what pages are made of, digests of files, folders as zip files, and the
// trash.
#pragma once

#include <cstdint>
#include <optional>
#include <string_view>

#include "fileserver/http/methods.h"
#include "http/answer.h"
#include "http/path.h"
#include "wire/wish.h"

namespace fileserver {

// Adds fields to the answer to OPTIONS.
using TellOptions = void (*)(http::AnswerHead& head, const Parts& parts);

struct ServerPath {
  enum class For : std::uint8_t { kAnybody, kUsers };

  std::string_view name;     // with a slash at its end: all that is below it
  std::string_view allowed;  // methods
  http::Method method;
  Handler handler;  // null: there is nothing at this path
  For whom = For::kAnybody;
  bool has_top = false;                // "/-/NAME/" alone is one of the paths, too
  Handler remover = nullptr;           // of DELETE, which is for users only
  Handler poster = nullptr;            // of POST, beside `method`
  Handler putter = nullptr;            // of PUT
  TellOptions tell_options = nullptr;  // of uploads: the handler takes all that is in `allowed`

  // Whether it is there only if clients may change the served folder.
  bool is_for_uploads() const { return tell_options != nullptr; }

  // Null if the method is not allowed. HEAD is when GET is.
  Handler handler_of(http::Method asked) const;
  bool is_for_anybody(http::Method asked) const {
    return whom == For::kAnybody && asked != http::Method::kDelete;
  }
};

// Null for a path that is not ours.
const ServerPath* server_path(const std::optional<http::Path>& path);

// The folder of a path such as "/-/zip/FOLDER/", for `ours` that is "-/zip/". Nothing if the user
// may not list it, a slash at its end is missing, or nobody may list anything.
std::optional<std::string_view> folder_behind(std::string_view ours, const Exchange& exchange,
                                              const Parts& parts);

inline constexpr std::string_view kSearchPaths = "-/search/";

// GET and HEAD of "/-/search/FOLDER/?q=TEXT": which names below the folder have the text, as JSON.
void search_below(Exchange& exchange, Parts& parts);

inline constexpr std::string_view kZipPaths = "-/zip/";

// GET and HEAD of "/-/zip/FOLDER/", and of "/-/zip/" for the served folder: it and all below it as
// one zip file, which is sent while it is made. docs/http.md describes it.
void get_zip(Exchange& exchange, Parts& parts);

inline constexpr std::string_view kTrashPaths = "-/trash/";

// GET and HEAD of "/-/trash/": what the user may put back, as JSON. POST of "/-/trash/ID" puts it
// back, and DELETE ends it. 404 without --trash.
void list_trash(Exchange& exchange, Parts& parts);
void put_back_trashed(Exchange& exchange, Parts& parts);
void end_trashed(Exchange& exchange, Parts& parts);

// GET of "/-/account": the page on which users change their password, and make and revoke their
// application passwords.
inline constexpr std::string_view kAccountPath = "-/account";
void get_account(Exchange& exchange, Parts& parts);

// GET and POST of "/-/apps", and DELETE of "/-/apps/ID": the application passwords of the user.
inline constexpr std::string_view kAppPaths = "-/apps/";
void list_apps(Exchange& exchange, Parts& parts);
void make_app(Exchange& exchange, Parts& parts);
void revoke_app(Exchange& exchange, Parts& parts);

// GET and POST of "/-/links", and DELETE of "/-/links/ID": the links that the user has made.
inline constexpr std::string_view kLinkPaths = "-/links/";
void list_links(Exchange& exchange, Parts& parts);
void make_link(Exchange& exchange, Parts& parts);
void revoke_link(Exchange& exchange, Parts& parts);

// GET and POST below "/-/admin/": what administrators see and change, and the page for that.
inline constexpr std::string_view kAdminPaths = "-/admin/";
inline constexpr std::string_view kPeople = "people";
void administrate(Exchange& exchange, Parts& parts);

// GET and POST of "/-/invitation": sets the password of whoever has the link to it.
inline constexpr std::string_view kInvitationPath = wire::kInvitationPath;
void get_invitation(Exchange& exchange, Parts& parts);
void use_invitation(Exchange& exchange, Parts& parts);

// POST of "/-/accounts": makes an account, as `new:` does.
void make_account(Exchange& exchange, Parts& parts);

// POST and DELETE of "/-/session": log in and out. GET of "/-/whoami". POST of "/-/password".
void open_session(Exchange& exchange, Parts& parts);
void close_session(Exchange& exchange, Parts& parts);
void tell_who(Exchange& exchange, Parts& parts);
void change_password(Exchange& exchange, Parts& parts);

}  // namespace fileserver
