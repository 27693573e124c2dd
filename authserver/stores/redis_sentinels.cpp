#include "authserver/stores/redis_sentinels.h"

#include <algorithm>
#include <charconv>
#include <optional>
#include <span>
#include <utility>

#include "base/log.h"

namespace authserver {

namespace {

using base::Error;
using base::ErrorCode;
using Reply = RedisConnection::Reply;

constexpr std::string_view kRedis = "redis: ";

// A name or an address. Anything else could become a path, or lines in the log.
bool may_be_host(const std::string& host) {
  constexpr std::string_view kOfNames =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789.-_";
  constexpr std::size_t kMostOfName = 253;
  if (host.empty() || host.size() > kMostOfName) return false;
  if (host.find_first_not_of(kOfNames) == std::string::npos) return true;
  return !net::HostPort{host, 0}.is_unix() && net::is_numeric(host);
}

std::optional<net::HostPort> parse_server(std::string_view host, std::string_view digits) {
  net::HostPort server{std::string(host), 0};
  const char* const end = digits.data() + digits.size();
  const auto [last, failure] = std::from_chars(digits.data(), end, server.port);
  if (failure != std::errc() || last != end || server.port == 0) return {};
  if (!may_be_host(server.host)) return {};
  return server;
}

bool is_text(const redisReply& reply) { return reply.type == REDIS_REPLY_STRING; }

std::span<redisReply*> elements_of(const redisReply& reply) {
  if (reply.type != REDIS_REPLY_ARRAY) return {};
  return {reply.element, reply.elements};
}

// Of a reply to SENTINEL REPLICAS: names and values in turn.
std::optional<net::HostPort> server_of(const redisReply& replica) {
  std::string_view host;
  std::string_view port;
  const auto words = elements_of(replica);
  for (std::size_t at = 0; at + 1 < words.size(); at += 2) {
    if (!is_text(*words[at]) || !is_text(*words[at + 1])) return {};
    if (text_in(*words[at]) == "ip") host = text_in(*words[at + 1]);
    if (text_in(*words[at]) == "port") port = text_in(*words[at + 1]);
  }
  return parse_server(host, port);
}

}  // namespace

RedisSentinels::RedisSentinels(const RedisOptions& options, net::ResolvedName::Resolver resolver,
                               SentinelsLearnt& learnt)
    : options_(options), resolver_(std::move(resolver)), learnt_(learnt) {
  for (const net::HostPort& sentinel : options.sentinels) hosts_.emplace_back(sentinel, resolver_);
}

Error RedisSentinels::failed(std::size_t sentinel, std::string_view why) const {
  if (why.starts_with(kRedis)) why.remove_prefix(kRedis.size());
  return {
      ErrorCode::kUnavailable,
      "redis: the sentinel " + net::to_string(hosts_[sentinel].name()) + ": " + std::string(why)};
}

base::Status RedisSentinels::open(RedisConnection& connection, std::size_t sentinel,
                                  base::Deadline deadline, std::int64_t timeout_ms) {
  const auto addresses = hosts_[sentinel].addresses(deadline);
  if (!addresses) return failed(sentinel, addresses.error().context);
  const auto opened = connection.open(*addresses, deadline, timeout_ms,
                                      {options_.encryption.get(), hosts_[sentinel].name().host});
  if (opened) return opened;
  hosts_[sentinel].none_works();
  return failed(sentinel, opened.error().context);
}

// Most sentinels have no password. So it is sent only to one that asks for it.
base::Result<Reply> RedisSentinels::ask(RedisConnection& connection, RedisConnection::Words words,
                                        base::Deadline deadline) const {
  auto reply = connection.ask(words, deadline);
  const bool must_log_in = !reply && reply.error().context.starts_with("redis: NOAUTH");
  if (!must_log_in || options_.password.empty()) return reply;
  const auto logged_in = connection.ask({"AUTH", options_.password}, deadline);
  if (!logged_in) return logged_in.error();
  return connection.ask(words, deadline);
}

base::Result<net::HostPort> RedisSentinels::ask_for_primary(std::size_t sentinel,
                                                            base::Deadline deadline,
                                                            std::int64_t timeout_ms) {
  RedisConnection connection;
  if (const auto opened = open(connection, sentinel, deadline, timeout_ms); !opened)
    return opened.error();
  const auto reply =
      ask(connection, {"SENTINEL", "GET-MASTER-ADDR-BY-NAME", options_.primary}, deadline);
  if (!reply) return failed(sentinel, reply.error().context);
  if ((*reply)->type == REDIS_REPLY_NIL)
    return failed(sentinel, "it knows no primary with the name in --redis-primary");
  const auto words = elements_of(**reply);
  if (words.size() == 2 && is_text(*words[0]) && is_text(*words[1])) {
    if (auto server = parse_server(text_in(*words[0]), text_in(*words[1])))
      return std::move(*server);
  }
  return failed(sentinel, "it names no host with a port as the primary");
}

std::vector<net::HostPort> RedisSentinels::ask_for_all_servers(base::Deadline deadline,
                                                               std::int64_t timeout_ms) {
  std::vector<net::HostPort> servers;
  for (std::size_t sentinel = 0; sentinel < count(); ++sentinel) {
    const auto left = static_cast<std::int64_t>(count() - sentinel);
    const auto share = base::Deadline::in_ms(std::max<std::int64_t>(deadline.left_ms() / left, 1));
    const auto primary = ask_for_primary(sentinel, share, timeout_ms);
    if (!primary) continue;
    servers.push_back(*primary);
    RedisConnection connection;
    if (!open(connection, sentinel, share, timeout_ms)) continue;
    const auto replicas = ask(connection, {"SENTINEL", "REPLICAS", options_.primary}, share);
    if (!replicas) continue;
    for (const redisReply* replica : elements_of(**replicas)) {
      if (const auto server = server_of(*replica)) servers.push_back(*server);
    }
  }
  return servers;
}

net::ResolvedName::Found RedisSentinels::addresses_of(const net::HostPort& server,
                                                      base::Deadline deadline) const {
  return net::ResolvedName(server, resolver_).addresses(deadline);
}

void RedisSentinels::has_led_to(std::size_t sentinel, const net::HostPort& primary) {
  learnt_.preferred.has_worked(sentinel);
  const std::string server = net::to_string(primary);
  const std::uint64_t hash = std::hash<std::string>()(server) | 1U;
  if (learnt_.primary.load() == hash) return;
  if (const std::uint64_t before = learnt_.primary.exchange(hash); before != 0 && before != hash)
    base::log::info("another server is the primary of the accounts now at=redis primary={} name={}",
                    server, options_.primary);
}

std::vector<net::HostPort> parse_sentinels(std::string_view text) {
  std::vector<net::HostPort> sentinels;
  for (const std::string& one : split_hosts(text)) {
    auto address = net::parse_host_port(one);
    if (!address || address->port == 0) return {};
    sentinels.push_back(std::move(*address));
  }
  return sentinels;
}

std::string to_string(const std::vector<net::HostPort>& sentinels) {
  std::string text;
  for (const net::HostPort& one : sentinels)
    text += (text.empty() ? "" : ",") + net::to_string(one);
  return text;
}

}  // namespace authserver
