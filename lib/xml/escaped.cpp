#include "xml/escaped.h"

#include "base/utf8.h"

namespace xml {

namespace {

// U+FFFE and U+FFFF in UTF-8, which no document can have. Both begin with the same two bytes.
bool is_no_character(std::string_view text, std::size_t at) {
  const std::string_view bytes = text.substr(at, 3);
  return bytes == "\xef\xbf\xbe" || bytes == "\xef\xbf\xbf";
}

}  // namespace

std::string escaped(std::string_view text) {
  std::string html;
  std::string utf8 = base::as_utf8(text);
  for (std::size_t at = 0; at < utf8.size(); ++at) {
    if (is_no_character(utf8, at)) utf8[at + 2] = '\xbd';
    switch (const char byte = utf8[at]) {
      case '&': html += "&amp;"; break;
      case '<': html += "&lt;"; break;
      case '>': html += "&gt;"; break;
      case '"': html += "&quot;"; break;
      case '\'': html += "&#39;"; break;
      default: html += byte;
    }
  }
  return html;
}

}  // namespace xml
