#include "fileserver/http/dav/body.h"

#include <string>
#include <utility>

#include "fileserver/http/request_body.h"

namespace fileserver::dav {

namespace {

std::optional<XmlBody> refused(Exchange& exchange, http::Status status) {
  exchange.answer(status);
  return {};
}

// Without what Windows 11 sends around a document, though neither may be there: a line break in
// front of it, and the NUL at the end of a string of C. In UTF-16 a NUL is half of a character.
std::string_view without_surroundings(std::string_view text) {
  const std::size_t begin = text.find_first_not_of(" \t\r\n");
  if (begin == std::string_view::npos) return text;
  std::string_view document = text.substr(begin);
  const bool is_utf_16 = document.substr(0, 4).find('\0') != std::string_view::npos;
  if (!is_utf_16 && document.back() == '\0') document.remove_suffix(1);
  return document;
}

}  // namespace

std::optional<XmlBody> read_xml(Exchange& exchange) {
  if (exchange.head().has(http::Field::kContentEncoding)) return refused(exchange, 415);
  exchange.connection().limit_body_to_time_of_head();
  std::string text;
  const Refusal refusal = read_body(exchange, kMaxBodyBytes, [&](std::string_view piece) {
    text += piece;
    return Refusal();
  });
  if (refusal) return refused(exchange, *refusal);
  if (text.empty()) return XmlBody{};
  auto root = xml::parse(without_surroundings(text));
  if (!root) return refused(exchange, 400);
  return XmlBody{std::move(*root)};
}

}  // namespace fileserver::dav
