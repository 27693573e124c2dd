#include "fileserver/http/dav/depth.h"

#include "http/syntax.h"

namespace fileserver::dav {

std::optional<Depth> depth_of(const http::RequestHead& head) {
  if (!head.has(http::Field::kDepth)) return Depth::kInfinity;
  const std::string_view value = head.value(http::Field::kDepth);
  if (value == "0") return Depth::kZero;
  if (value == "1") return Depth::kOne;
  if (http::is_same(value, "infinity")) return Depth::kInfinity;
  return {};
}

}  // namespace fileserver::dav
