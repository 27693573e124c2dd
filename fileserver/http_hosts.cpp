#include "fileserver/http_hosts.h"

#include <algorithm>
#include <utility>

#include "base/text.h"
#include "http/syntax.h"
#include "net/ip_address.h"

namespace fileserver {

namespace {

constexpr std::string_view kThisMachine = "localhost";
constexpr std::size_t kLongestKnown = 64;  // a client chooses the text of a port

bool is_name_byte(char c) {
  return http::is_letter(c) || base::is_digit(c) || c == '.' || c == '-' || c == '_';
}

bool is_name(std::string_view text) {
  return !text.empty() && text.size() <= 253 && std::ranges::all_of(text, is_name_byte);
}

// The name or address in front of a port.
std::string_view host_of(std::string_view authority) {
  const std::size_t end = authority.starts_with('[') ? authority.find(']') : std::string_view::npos;
  if (end != std::string_view::npos) return authority.substr(1, end - 1);
  return authority.substr(0, authority.rfind(':'));
}

bool is_on_loopback(const net::HostPort& listen) {
  if (listen.is_unix()) return false;
  const auto address = net::parse_ip_address(listen.host);
  return listen.host == kThisMachine || (address && address->is_loopback());
}

}  // namespace

std::optional<std::vector<std::string>> parse_http_hosts(std::string_view text) {
  std::vector<std::string> names;
  for (std::size_t comma = 0; comma != std::string_view::npos;) {
    comma = text.find(',');
    const std::string_view name = base::trimmed(text.substr(0, comma));
    if (!is_name(name) && !net::parse_ip_address(name)) return {};
    names.emplace_back(name);
    if (comma != std::string_view::npos) text.remove_prefix(comma + 1);
  }
  return names;
}

HttpHosts::HttpHosts(std::vector<std::string> names, const std::optional<net::HostPort>& listen)
    : names_(std::move(names)),
      is_asked_for_(!names_.empty() || (listen && is_on_loopback(*listen))) {}

bool HttpHosts::accepts(const http::RequestHead& head, Known& known) const {
  if (!is_asked_for_) return true;
  if (!head.authority().empty()) return is_good(head.authority(), known);
  bool are_good = true;
  head.each(http::Field::kHost, [&](std::string_view host) {
    are_good = are_good && (host.empty() || is_good(host, known));
  });
  return are_good;
}

bool HttpHosts::is_good(std::string_view authority, Known& known) const {
  if (authority == known.authority_) return true;
  const std::string_view host = host_of(authority);
  if (!net::parse_ip_address(host) && !http::is_same(host, kThisMachine) &&
      std::ranges::none_of(names_, [&](const auto& name) { return http::is_same(host, name); }))
    return false;
  if (authority.size() <= kLongestKnown) known.authority_ = authority;
  return true;
}

}  // namespace fileserver
