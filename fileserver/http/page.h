// What every page for a browser looks like: our style sheet, and nothing from elsewhere.
#pragma once

#include <string>
#include <string_view>

#include "http/request_head.h"
#include "http/status.h"

namespace fileserver {

class Exchange;
struct Parts;

// For Content-Security-Policy. A page loads our style sheet and nothing else. One with the script
// loads that too, may ask this server, and shows its pictures. No text becomes HTML or a script in
// it. No page of another site shows either in a frame.
inline constexpr std::string_view kPagePolicy =
    "default-src 'none'; style-src 'self'; base-uri 'none'; form-action 'none'; "
    "frame-ancestors 'none'";
inline constexpr std::string_view kScriptedPagePolicy =
    "default-src 'none'; script-src 'self'; style-src 'self'; connect-src 'self'; img-src 'self'; "
    "base-uri 'none'; form-action 'none'; frame-ancestors 'none'; "
    "require-trusted-types-for 'script'; trusted-types 'none'";

// The script of folders and of the page to sign in, or that of accounts.
enum class Script { kNone, kOurs, kOfAccounts };

// What stands before and behind the HTML of a page. `title` is plain text.
void append_page_start(std::string_view title, Script script, std::string& to);
inline constexpr std::string_view kPageEnd = "</main>\n</body>\n</html>\n";

// Who is signed in, for the header of a page: a way to the account. The script puts one to sign out
// beside it where there is a session.
void append_who(std::string_view user, bool is_by_session, std::string& to);

// A whole page without a script. `title` is the heading too; `body` is HTML.
std::string html_page(std::string_view title, std::string_view body);

// Which of text/html and application/json Accept names first.
enum class Preferred { kNeither, kPage, kJson };
Preferred preferred_form(const http::RequestHead& head);

// Whether Accept names text/html at all.
bool accepts_page(const http::RequestHead& head);

// The page that a browser shows for the status, with a way back. Empty where the words of the
// status are all there is to say: no person meets such a status by following links.
std::string answer_page(http::Status status);

// The page for a `401` that asks for no credentials by itself: a form for user and password.
std::string sign_in_page();

// The page of a link by which somebody sets a password.
std::string invitation_page();

// The page on which administrators look after the accounts of all.
struct Person;
std::string people_page(const Person& administrator);

// Sends a page with a script that no cache keeps.
void send_own_page(Exchange& exchange, std::string_view page);

// The page of a link by which guests put files into the folder of this name; empty: the share.
std::string drop_page(std::string_view folder);

// The style sheet and the scripts of the pages, which are built in from fileserver/http/page.
inline constexpr std::string_view kStylePath = "-/page.css";
inline constexpr std::string_view kCommonScriptPath = "-/common.js";
inline constexpr std::string_view kScriptPath = "-/page.js";
inline constexpr std::string_view kAccountScriptPath = "-/account.js";
inline constexpr std::string_view kShowScriptPath = "-/show.js";  // comes when it is needed

// They need no credentials: the page of a 401 has the style too, and none has a secret. Pages link
// to them with a query that is another one for other bytes. With the query of these bytes the
// answer may be kept for a year. With any other one, as a page of another version asks, it is asked
// for again each time, by its tag.
void get_page_file(Exchange& exchange, Parts& parts);

}  // namespace fileserver
