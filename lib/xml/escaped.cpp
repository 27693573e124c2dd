#include "xml/escaped.h"

#include "base/utf8.h"

namespace xml {

std::string escaped(std::string_view text) {
  std::string html;
  for (const char byte : base::as_utf8(text)) {
    switch (byte) {
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
