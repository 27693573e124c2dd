#include "http/fields.h"

#include <array>
#include <utility>

#include "http/syntax.h"

namespace http {

namespace {

constexpr std::array<std::pair<std::string_view, Method>, 16> kMethods{{
    {"GET", Method::kGet},
    {"HEAD", Method::kHead},
    {"PUT", Method::kPut},
    {"DELETE", Method::kDelete},
    {"POST", Method::kPost},
    {"PATCH", Method::kPatch},
    {"OPTIONS", Method::kOptions},
    {"MKCOL", Method::kMkcol},
    {"PROPFIND", Method::kPropfind},
    {"PROPPATCH", Method::kProppatch},
    {"MOVE", Method::kMove},
    {"COPY", Method::kCopy},
    {"LOCK", Method::kLock},
    {"UNLOCK", Method::kUnlock},
    {"CONNECT", Method::kConnect},
    {"TRACE", Method::kTrace},
}};

// In the order of the enumeration.
constexpr std::array<std::string_view, kKnownFields> kNames{
    "accept",
    "authorization",
    "connection",
    "content-digest",
    "content-disposition",
    "content-encoding",
    "content-length",
    "content-range",
    "content-type",
    "cookie",
    "depth",
    "destination",
    "expect",
    "host",
    "if",
    "if-match",
    "if-modified-since",
    "if-none-match",
    "if-range",
    "if-unmodified-since",
    "lock-token",
    "origin",
    "overwrite",
    "range",
    "repr-digest",
    "sec-fetch-dest",
    "sec-fetch-site",
    "timeout",
    "transfer-encoding",
    "tus-resumable",
    "upload-checksum",
    "upload-complete",
    "upload-defer-length",
    "upload-draft-interop-version",
    "upload-length",
    "upload-metadata",
    "upload-offset",
    "want-repr-digest",
    "x-forwarded-for",
    "x-http-method-override",
    "x-oc-mtime",
};
static_assert(!kNames.back().empty(), "each field has a name");

// The fields whose names have as many bytes, in the order of the enumeration. So one comparison or
// two tell which field a name is.
constexpr std::size_t kLongestName = 28;
constexpr auto kOfLength = [] {
  std::array<std::array<Field, 8>, kLongestName + 1> fields{};
  for (auto& row : fields) row.fill(Field::kOther);
  for (std::size_t i = 0; i < kNames.size(); ++i) {
    auto& row = fields[kNames[i].size()];
    std::size_t at = 0;
    while (row[at] != Field::kOther) ++at;  // a ninth of one length does not compile
    row[at] = static_cast<Field>(i);
  }
  return fields;
}();

}  // namespace

std::string_view text_of(Method method) {
  for (const auto& [name, one] : kMethods) {
    if (one == method) return name;
  }
  return {};
}

Method method_of(std::string_view text) {
  for (const auto& [name, method] : kMethods) {
    if (name == text) return method;
  }
  return Method::kOther;
}

Field field_of(std::string_view name) {
  if (name.size() > kLongestName) return Field::kOther;
  for (const Field field : kOfLength[name.size()]) {
    if (field == Field::kOther) break;
    if (is_same(name, kNames[static_cast<std::size_t>(field)])) return field;
  }
  return Field::kOther;
}

}  // namespace http
