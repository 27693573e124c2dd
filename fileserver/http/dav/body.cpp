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
  auto root = xml::parse(text);
  if (!root) return refused(exchange, 400);
  return XmlBody{std::move(*root)};
}

}  // namespace fileserver::dav
