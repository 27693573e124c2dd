#include "fileserver/http/page.h"

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

constexpr std::string_view kStyle = R"(</title>
<style>
body { font: 16px/1.5 system-ui, sans-serif; max-width: 60rem; margin: 0 auto; padding: 1rem; }
h1 { font-size: 1.25rem; font-weight: 600; margin: .5rem .5rem 1rem; overflow-wrap: anywhere; }
table { width: 100%; border-collapse: collapse; }
th { text-align: left; font-weight: 400; opacity: .7; }
th:first-child { width: 100%; }
th, td { padding: .45rem .5rem; border-bottom: 1px solid #8883; vertical-align: top; }
td:first-child { padding: 0; overflow-wrap: anywhere; }
.size, .time { white-space: nowrap; font-variant-numeric: tabular-nums; opacity: .7; }
.size { text-align: right; }
a { text-decoration: none; }
p { margin: .5rem; }
p a { display: inline-block; padding: .45rem 0; }
td a { display: block; padding: .45rem .5rem; }
a:hover { text-decoration: underline; }
@media (max-width: 36rem) { .time { display: none; } body { padding: .5rem; } }
</style>
</head>
<body>
)";

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

void append_page_start(std::string_view title, std::string& to) {
  const std::string heading = xml::escaped(title);
  to += kPageStart;
  to += heading;
  to += kStyle;
  to += "<h1>" + heading + "</h1>\n";
}

std::string html_page(std::string_view title, std::string_view body) {
  std::string page;
  append_page_start(title, page);
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
