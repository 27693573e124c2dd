#include "fileserver/trusted_proxy.h"

#include <algorithm>
#include <string>

#include "base/log.h"
#include "base/text.h"

namespace fileserver {

namespace {

// The address that net::accept_from() gives to peers on Unix-domain sockets. Nobody else has it.
constexpr std::string_view kUnixPeers = "::";

// Calls take(entry) for each entry of a list with commas, which may be empty.
template <typename Take>
void for_each_entry(std::string_view list, const Take& take) {
  for (std::size_t comma = 0; comma != std::string_view::npos;) {
    comma = list.find(',');
    take(base::trimmed(list.substr(0, comma)));
    if (comma != std::string_view::npos) list.remove_prefix(comma + 1);
  }
}

bool is_port(std::string_view text) {
  return !text.empty() && text.size() <= 5 && std::ranges::all_of(text, base::is_digit);
}

// The address in front of a port, or the text as it is.
std::string_view without_port(std::string_view entry) {
  if (entry.starts_with('[')) {
    const std::size_t end = entry.find(']');
    if (end == std::string_view::npos) return entry;
    const std::string_view rest = entry.substr(end + 1);
    const bool is_whole = rest.empty() || (rest.front() == ':' && is_port(rest.substr(1)));
    return is_whole ? entry.substr(1, end - 1) : entry;
  }
  const std::size_t colon = entry.find(':');
  const bool is_v4_with_port = colon == entry.rfind(':') && colon != std::string_view::npos &&
                               is_port(entry.substr(colon + 1));
  return is_v4_with_port ? entry.substr(0, colon) : entry;
}

// Nothing for what is no address, and for 0.0.0.0 and ::, which nobody has.
std::optional<net::IpAddress> address_in(std::string_view entry) {
  auto address = net::parse_ip_address(without_port(entry));
  if (address == net::IpAddress() || address == net::parse_ip_address("0.0.0.0")) address.reset();
  return address;
}

}  // namespace

std::optional<TrustedProxies> parse_trusted_proxies(std::string_view text) {
  TrustedProxies proxies;
  bool is_acceptable = true;
  for_each_entry(text, [&](std::string_view entry) {
    const auto range = net::IpRange::parse(entry == "unix" ? kUnixPeers : entry);
    if (range) proxies.push_back(*range);
    is_acceptable = is_acceptable && range;
  });
  if (!is_acceptable) return {};
  return proxies;
}

bool is_trusted_proxy(const TrustedProxies& proxies, const net::IpAddress& peer) {
  return std::ranges::any_of(proxies,
                             [&](const net::IpRange& range) { return range.contains(peer); });
}

void ForwardedFor::take(std::string_view value) {
  for_each_entry(value, [&](std::string_view entry) { take_entry(address_in(entry)); });
}

// Reading from the end stops at an address that is not trusted, or behind an entry that is none.
// Reading from the start, such an entry therefore replaces what was found.
void ForwardedFor::take_entry(const std::optional<net::IpAddress>& entry) {
  if (!entry || !found_ || !is_trusted(*entry)) found_ = entry;
}

net::IpAddress ForwardedFor::client(const net::IpAddress& peer) const {
  return found_ && is_trusted(peer) ? *found_ : peer;
}

void UnnamedProxy::note(const TrustedProxies& trusted, const net::IpAddress& peer) {
  if (is_told_.load(std::memory_order_relaxed) || is_trusted_proxy(trusted, peer)) return;
  if (is_told_.exchange(true, std::memory_order_relaxed)) return;
  base::log::warn(
      "a peer sends X-Forwarded-For and is not believed peer={} hint=\"if it is your proxy, name "
      "it "
      "with --trusted-proxy, or its clients share the counts of wrong passwords\"",
      peer.text());
}

bool are_passwords_readable(const net::HostPort& http_listen, const TrustedProxies& trusted) {
  if (!trusted.empty() || http_listen.is_unix() || http_listen.host == "localhost") return false;
  const auto address = net::parse_ip_address(http_listen.host);
  const auto is_in = [&](const char* range) {
    return net::IpRange::parse(range)->contains(*address);
  };
  return !address || !(is_in("127.0.0.0/8") || is_in("::1"));
}

}  // namespace fileserver
