#include "fileserver/http/page.h"

#include <fmt/core.h>

#include <algorithm>
#include <array>

#include "fileserver/http/exchange.h"
#include "fileserver/http/server_paths.h"
#include "http/conditions.h"
#include "http/syntax.h"
#include "page/files.h"
#include "xml/escaped.h"

namespace fileserver {

namespace {

constexpr std::string_view kPageStart = R"(<!doctype html>
<html lang="en">
<head>
<meta charset="utf-8">
<meta name="viewport" content="width=device-width, initial-scale=1">
<meta name="color-scheme" content="light dark">
<title>)";

// What happened, and what a person can do about it.
std::string_view explanation_of(int status) {
  switch (status) {
    case 401:
      return "<p>This page needs a user name and a password.</p>\n"
             "<p><a href=\"\">Log in</a></p>\n";
    case 403:
      return "<p>Your account may not do this.</p>\n"
             "<p><a href=\"/\">Back to the files</a></p>\n";
    case 404:
      return "<p>There is no such file or folder.</p>\n"
             "<p><a href=\"/\">Back to the files</a></p>\n";
    case 429:
      return "<p>Too many wrong passwords came from your address. Wait for a minute.</p>\n"
             "<p><a href=\"\">Try again</a></p>\n";
    case 503:
      return "<p>The server cannot check passwords now, or is too busy.</p>\n"
             "<p><a href=\"\">Try again</a></p>\n";
    default: return {};
  }
}

constexpr std::string_view kPageType = "text/html";

// Takes the next element of Accept from its front. Returns its type without parameters.
std::string_view take_type(std::string_view& list) {
  const std::string_view element = http::take_element(list);
  return http::trimmed(element.substr(0, element.find(';')));
}

struct PageFile {
  std::string_view path;
  std::string_view address;
  std::string_view type;
  std::string_view text;
  std::int64_t version;
};

constexpr std::string_view kScriptType = "text/javascript; charset=utf-8";
constexpr std::array kPageFiles{
    PageFile{kStylePath, page_files::kStyleAddress, "text/css; charset=utf-8", page_files::kStyle,
             page_files::kStyleVersion},
    PageFile{kCommonScriptPath, page_files::kCommonScriptAddress, kScriptType,
             page_files::kCommonScript, page_files::kCommonScriptVersion},
    PageFile{kScriptPath, page_files::kScriptAddress, kScriptType, page_files::kScript,
             page_files::kScriptVersion},
    PageFile{kAccountScriptPath, page_files::kAccountScriptAddress, kScriptType,
             page_files::kAccountScript, page_files::kAccountScriptVersion},
    PageFile{kShowScriptPath, page_files::kShowScriptAddress, kScriptType, page_files::kShowScript,
             page_files::kShowScriptVersion},
};

// Runs when all of the page is there, and the scripts in their order.
void append_script(std::string_view address, std::string& to) {
  to += fmt::format("<script defer src=\"{}\"></script>\n", address);
}

void answer_with(const PageFile& file, Exchange& exchange) {
  const std::int64_t now_s = exchange.connection().now_s();
  http::Validators current(file.text.size(), file.version, now_s);
  current.modified.reset();  // there is a version, and no time
  const http::Verdict verdict = http::evaluate(exchange.head(), &current, now_s);
  if (verdict == http::Verdict::kPreconditionFailed) return exchange.answer(412);
  const bool is_same = verdict == http::Verdict::kNotModified;
  http::AnswerHead head = exchange.begin(is_same ? http::Status(304) : http::Status(200));
  const bool may_be_kept = exchange.head().target().ends_with(file.address);
  head.field("ETag", current.tag.view())
      .field("Cache-Control", may_be_kept ? "public, max-age=31536000, immutable" : "no-cache");
  if (is_same) return exchange.connection().send(head.finish());
  exchange.send_text(head, file.type, file.text);
}

}  // namespace

void append_page_start(std::string_view title, Script script, std::string& to) {
  to += kPageStart;
  to += xml::escaped(title);
  to += fmt::format("</title>\n<link rel=\"stylesheet\" href=\"{}\">\n", page_files::kStyleAddress);
  if (script != Script::kNone) {
    append_script(page_files::kCommonScriptAddress, to);
    append_script(
        script == Script::kOurs ? page_files::kScriptAddress : page_files::kAccountScriptAddress,
        to);
  }
  to += "</head>\n<body>\n";
}

void append_who(std::string_view user, bool is_by_session, std::string& to) {
  to += fmt::format("<p class=\"who\"{}>Signed in as <a href=\"/{}\"><bdi>{}</bdi></a></p>\n",
                    is_by_session ? " data-session" : "", kAccountPath, xml::escaped(user));
}

std::string html_page(std::string_view title, std::string_view body) {
  std::string page;
  append_page_start(title, Script::kNone, page);
  page += "<header>\n<h1>" + xml::escaped(title) + "</h1>\n</header>\n<main>\n";
  page += body;
  return page += kPageEnd;
}

Preferred preferred_form(const http::RequestHead& head) {
  Preferred preferred = Preferred::kNeither;
  head.each(http::Field::kAccept, [&](std::string_view list) {
    while (!list.empty() && preferred == Preferred::kNeither) {
      const std::string_view type = take_type(list);
      if (http::is_same(type, kPageType)) preferred = Preferred::kPage;
      if (http::is_same(type, "application/json")) preferred = Preferred::kJson;
    }
  });
  return preferred;
}

bool accepts_page(const http::RequestHead& head) {
  bool accepts = false;
  head.each(http::Field::kAccept, [&](std::string_view list) {
    while (!list.empty()) accepts = http::is_same(take_type(list), kPageType) || accepts;
  });
  return accepts;
}

std::string answer_page(http::Status status) {
  const std::string_view explanation = explanation_of(status.number());
  return explanation.empty() ? std::string() : html_page(status.reason(), explanation);
}

std::string sign_in_page() {
  std::string page;
  append_page_start("Sign in", Script::kOurs, page);
  page +=
      R"(<header>
<h1>Sign in</h1>
</header>
<main>
<form class="log-in">
<label class="field">User name
<input type="text" name="user" autocomplete="username" spellcheck="false" required autofocus></label>
<label class="field">Password
<input type="password" name="password" autocomplete="current-password" required></label>
<label class="box"><input type="checkbox" name="stay">Stay signed in for 30 days</label>
<div class="answers"><button>Sign in</button></div>
</form>
<noscript><p>This page needs JavaScript.</p></noscript>
)";
  return page += kPageEnd;
}

std::string invitation_page() {
  std::string page;
  append_page_start("Choose a password", Script::kOfAccounts, page);
  page +=
      R"(<header>
<h1>Choose a password</h1>
</header>
<main>
<form class="log-in" data-invitation>
<label class="field">Password
<input type="password" name="password" autocomplete="new-password" required autofocus></label>
<label class="field">The same again
<input type="password" name="again" autocomplete="new-password" required></label>
<div class="answers"><button>Save</button></div>
</form>
<noscript><p>This page needs JavaScript.</p></noscript>
)";
  return page += kPageEnd;
}

std::string drop_page(std::string_view folder) {
  const std::string_view whereto = folder.empty() ? "this share" : folder;
  std::string page;
  append_page_start(fmt::format("Send files to {}", whereto), Script::kOfAccounts, page);
  page += fmt::format(R"(<header>
<h1>Send files to <bdi>{}</bdi></h1>
</header>
<main>
<form class="log-in" data-drop>
<label class="field">Files
<input type="file" name="files" multiple required autofocus></label>
<div class="answers"><button>Send</button></div>
</form>
<noscript><p>This page needs JavaScript. Without it, "curl -T FILE" sends a file to this
address.</p></noscript>
)",
                      xml::escaped(whereto));
  return page += kPageEnd;
}

void get_page_file(Exchange& exchange, Parts&) {
  const auto* const file = std::ranges::find(kPageFiles, exchange.path()->name, &PageFile::path);
  answer_with(*file, exchange);
}

}  // namespace fileserver
