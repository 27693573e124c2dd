#include "fileserver/http/dav/destination.h"

#include "http/syntax.h"

namespace fileserver {

namespace {

using http::Field;

struct Scheme {
  std::string_view prefix;
  std::string_view port;
};
constexpr Scheme kSchemes[] = {{"http://", ":80"}, {"https://", ":443"}};

// An empty port is that of the scheme, too (RFC 3986).
std::string_view without_port(std::string_view authority, std::string_view port) {
  if (authority.ends_with(port)) authority.remove_suffix(port.size());
  if (authority.ends_with(':')) authority.remove_suffix(1);
  return authority;
}

bool is_same_host(std::string_view authority, std::string_view host, std::string_view port) {
  const std::size_t at = authority.rfind('@');
  if (at != std::string_view::npos) authority.remove_prefix(at + 1);
  authority = without_port(authority, port);
  return !authority.empty() && http::is_same(authority, without_port(host, port));
}

}  // namespace

Destination::Destination(std::string_view value, std::string_view host) {
  std::string_view path = value;
  bool is_here = true;
  for (const Scheme& scheme : kSchemes) {
    if (!http::is_same(value.substr(0, scheme.prefix.size()), scheme.prefix)) continue;
    path.remove_prefix(scheme.prefix.size());
    const std::string_view authority = path.substr(0, path.find_first_of("/?#"));
    path.remove_prefix(authority.size());
    is_here = is_same_host(authority, host, scheme.port);
    if (path.empty() || path.front() == '?') path = "/";
  }
  if (path.starts_with("//") || path.find('#') != std::string_view::npos) return;
  path = path.substr(0, path.find('?'));
  decoded_.resize(path.size());
  path_ = http::decode_path(path, decoded_);
  if (path_) kind_ = is_here ? Kind::kPath : Kind::kElsewhere;
}

std::optional<bool> parse_overwrite(const http::RequestHead& head) {
  if (!head.has(Field::kOverwrite)) return true;
  const std::string_view value = head.value(Field::kOverwrite);
  if (http::is_same(value, "T")) return true;
  if (http::is_same(value, "F")) return false;
  return {};
}

std::optional<CopyDepth> parse_copy_depth(const http::RequestHead& head) {
  if (!head.has(Field::kDepth)) return CopyDepth::kInfinity;
  const std::string_view value = head.value(Field::kDepth);
  if (value == "0") return CopyDepth::kZero;
  if (http::is_same(value, "infinity")) return CopyDepth::kInfinity;
  return {};
}

std::optional<Depth> depth_of(const http::RequestHead& head) {
  if (!head.has(http::Field::kDepth)) return Depth::kInfinity;
  const std::string_view value = head.value(http::Field::kDepth);
  if (value == "0") return Depth::kZero;
  if (value == "1") return Depth::kOne;
  if (http::is_same(value, "infinity")) return Depth::kInfinity;
  return {};
}

}  // namespace fileserver
