#include "http/fields.h"

#include <array>
#include <utility>

#include "http/syntax.h"

namespace http {

namespace {

constexpr std::array<std::pair<std::string_view, Method>, 9> kMethods{{
    {"GET", Method::kGet},
    {"HEAD", Method::kHead},
    {"PUT", Method::kPut},
    {"DELETE", Method::kDelete},
    {"POST", Method::kPost},
    {"OPTIONS", Method::kOptions},
    {"MKCOL", Method::kMkcol},
    {"CONNECT", Method::kConnect},
    {"TRACE", Method::kTrace},
}};

// In the order of the enumeration.
constexpr std::array<std::string_view, kKnownFields> kNames{
    "accept",
    "authorization",
    "connection",
    "content-digest",
    "content-encoding",
    "content-length",
    "content-range",
    "expect",
    "host",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "origin",
    "range",
    "repr-digest",
    "sec-fetch-site",
    "transfer-encoding",
    "want-repr-digest",
    "x-forwarded-for",
};
static_assert(!kNames.back().empty(), "each field has a name");

}  // namespace

Method method_of(std::string_view text) {
  for (const auto& [name, method] : kMethods) {
    if (name == text) return method;
  }
  return Method::kOther;
}

Field field_of(std::string_view name) {
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    if (is_same(name, kNames[i])) return static_cast<Field>(i);
  }
  return Field::kOther;
}

}  // namespace http
