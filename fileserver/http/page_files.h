// The style sheet and the script of the pages: /-/page.css and /-/page.js. They are built in from
// fileserver/http/page.
#pragma once

#include <string_view>

namespace fileserver {

class Exchange;
struct Parts;

inline constexpr std::string_view kStylePath = "-/page.css";
inline constexpr std::string_view kScriptPath = "-/page.js";

// What a page links to. The query is another one for other bytes, so that browsers may keep them.
extern const std::string_view kStyleAddress;
extern const std::string_view kScriptAddress;

// Both need no credentials: the page of a 401 has the style too, and neither has a secret. With the
// query of these bytes the answer may be kept for a year. With any other one, as a page of another
// version asks, it is asked for again each time, by its tag.
void get_page_style(Exchange& exchange, Parts& parts);
void get_page_script(Exchange& exchange, Parts& parts);

}  // namespace fileserver
