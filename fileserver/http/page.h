// What every page for a browser looks like: no script, and nothing from elsewhere.
#pragma once

#include <string>
#include <string_view>

#include "http/request_head.h"
#include "http/status.h"

namespace fileserver {

// For Content-Security-Policy of a page, which has a style and nothing else. No page of another
// site shows it in a frame.
inline constexpr std::string_view kPagePolicy =
    "default-src 'none'; style-src 'unsafe-inline'; frame-ancestors 'none'";

// What stands before and behind the HTML of a page. `title` is plain text, and the heading too.
void append_page_start(std::string_view title, std::string& to);
inline constexpr std::string_view kPageEnd = "</body>\n</html>\n";

// A whole page. `body` is HTML.
std::string html_page(std::string_view title, std::string_view body);

// Which of text/html and application/json Accept names first.
enum class Preferred { kNeither, kPage, kJson };
Preferred preferred_form(const http::RequestHead& head);

// The page that a browser shows for the status, with a way back. Empty where the words of the
// status are all there is to say: no person meets such a status by following links.
std::string answer_page(http::Status status);

}  // namespace fileserver
