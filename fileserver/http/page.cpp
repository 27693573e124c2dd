#include "fileserver/http/page.h"

#include <fmt/core.h>

#include "fileserver/http/page_files.h"
#include "http/syntax.h"
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

}  // namespace

void append_page_start(std::string_view title, Script script, std::string& to) {
  to += kPageStart;
  to += xml::escaped(title);
  to += fmt::format("</title>\n<link rel=\"stylesheet\" href=\"{}\">\n", kStyleAddress);
  if (script == Script::kOurs)
    to += fmt::format("<script type=\"module\" src=\"{}\"></script>\n", kScriptAddress);
  to += "</head>\n<body>\n";
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
      const std::string_view element = http::take_element(list);
      const std::string_view type = http::trimmed(element.substr(0, element.find(';')));
      if (http::is_same(type, "text/html")) preferred = Preferred::kPage;
      if (http::is_same(type, "application/json")) preferred = Preferred::kJson;
    }
  });
  return preferred;
}

std::string answer_page(http::Status status) {
  const std::string_view explanation = explanation_of(status.number());
  return explanation.empty() ? std::string() : html_page(status.reason(), explanation);
}

}  // namespace fileserver
