#include "authserver/stores/redis_store.h"

#include <fmt/core.h>

#include <algorithm>
#include <iterator>
#include <span>
#include <utility>
#include <vector>

#include "authserver/stores/redis_durable.h"
#include "authserver/stores/redis_link.h"
#include "base/log.h"
#include "flags/alternatives.h"
#include "flags/secrets.h"
#include "flags/values.h"
#include "tls/key_pair.h"
#include "tls/server_context.h"

namespace authserver {

namespace {

using base::Error;
using base::ErrorCode;

class RedisStore : public AccountStore {
 public:
  // All that is borrowed must outlive it. `sentinels` may be null.
  RedisStore(const RedisOptions& options, net::ResolvedName& host, RedisSentinels* sentinels,
             const StoreLimits& limits)
      : timeout_ms_(limits.timeout_ms),
        wait_(options.wait),
        link_(options, host, sentinels, limits.timeout_ms) {}

  base::Status create(const Account& account) override {
    return set(account, "NX", {ErrorCode::kExists, "the user exists"});
  }
  base::Status replace(const Account& account) override {
    return set(account, "XX", {ErrorCode::kNotFound, "no such user"});
  }
  base::Status remove(std::string_view user) override;
  base::Status replace_if(const Account& account, std::string_view before) override;
  base::Result<std::string> find_record(std::string_view user) override;
  std::vector<base::Result<std::string>> find_records(
      std::span<const std::string_view> users) override;
  base::Status ping() override;
  base::Status for_each(const std::function<void(const Account&)>& visit) override;
  bool is_connected() const override { return link_.is_connected(); }
  void disconnect() override { link_.close(); }

  // Succeeds if accounts can be read and added. Changes nothing.
  base::Status may_ask();

  // How many replicas the server has now. Nothing if it does not tell, or without --redis-wait.
  std::optional<std::size_t> replicas();

  // The value of one CONFIG setting. Empty if the server does not tell it.
  std::string setting(std::string_view name);

 private:
  // Sets the record if the condition of SET holds. Otherwise returns `unmet`.
  base::Status set(const Account& account, std::string_view condition, const Error& unmet);

  base::Status replace_if_same(const Account& account, std::string_view before);

  // Sets the record unless the key, which is watched, was changed meanwhile.
  base::Status set_watched(const std::string& key, std::string_view record);

  base::Status visit_each(std::span<const std::string_view> users,
                          const std::function<void(const Account&)>& visit);

  // For commands that do no harm when asked twice.
  base::Result<RedisLink::Reply> ask_repeatable(RedisLink::Words words);

  // For commands that change accounts.
  base::Result<RedisLink::Reply> ask_for_change(RedisLink::Words words);

  // After a change that the server has made: succeeds once enough replicas have it.
  base::Status wait_for_replicas(base::Deadline deadline);

  const std::int64_t timeout_ms_;
  const int wait_;  // for so many replicas
  RedisLink link_;
};

constexpr std::string_view kKeyPrefix = "user:";
constexpr std::size_t kAtOnce = 100;  // users whose records are asked for together

std::string key_of(std::string_view user) { return std::string(kKeyPrefix).append(user); }

// Of a server that is not Redis, or of something between it and us.
Error unexpected(const std::string& command) {
  return {ErrorCode::kInternal, "redis: the reply to " + command + " has an unexpected type"};
}

Error another_record() { return {ErrorCode::kNotFound, "the account has another record"}; }

// What the reply to GET says.
base::Result<std::string> record_in(const base::Result<RedisLink::Reply>& reply) {
  if (!reply) return reply.error();
  if ((*reply)->type == REDIS_REPLY_NIL) return Error{ErrorCode::kNotFound, "no such user"};
  if ((*reply)->type != REDIS_REPLY_STRING) return unexpected("GET");
  return std::string(text_in(**reply));
}

base::Status RedisStore::set(const Account& account, std::string_view condition,
                             const Error& unmet) {
  const auto deadline = base::Deadline::in_ms(timeout_ms_);
  const auto reply = ask_for_change({"SET", key_of(account.user), account.record, condition});
  if (!reply) return reply.error();
  if ((*reply)->type == REDIS_REPLY_NIL) return unmet;
  if ((*reply)->type == REDIS_REPLY_STATUS && text_in(**reply) == "OK")
    return wait_for_replicas(deadline);
  return unexpected("SET");
}

// A replica refuses before it does anything. So a new primary may be asked for the same.
base::Result<RedisLink::Reply> RedisStore::ask_for_change(RedisLink::Words words) {
  link_.close_if_stale();
  auto reply = link_.ask(words);
  if (!reply && link_.was_refused_by_replica()) reply = link_.ask(words);
  return reply;
}

// Asked for behind the reply to the change, not together with it: after a change that was refused,
// such as that of a name that is taken, nobody has to wait for a replica that is gone.
base::Status RedisStore::wait_for_replicas(base::Deadline deadline) {
  if (wait_ == 0) return base::kDone;
  const auto have = link_.replicas_with_changes(wait_, deadline);
  if (have && *have >= wait_) return base::kDone;
  link_.doubt_primary();
  if (!have)
    return Error{ErrorCode::kUnavailable,
                 have.error().context + "; the change may stay or be lost"};
  return Error{ErrorCode::kUnavailable,
               fmt::format("redis: {} of {} replicas have the change, which may stay or be lost",
                           *have, wait_)};
}

base::Status RedisStore::remove(std::string_view user) {
  const auto deadline = base::Deadline::in_ms(timeout_ms_);
  const auto reply = ask_for_change({"DEL", key_of(user)});
  if (!reply) return reply.error();
  if ((*reply)->type != REDIS_REPLY_INTEGER) return unexpected("DEL");
  if ((*reply)->integer > 0) return wait_for_replicas(deadline);
  return Error{ErrorCode::kNotFound, "no such user"};
}

base::Status RedisStore::replace_if(const Account& account, std::string_view before) {
  const auto deadline = base::Deadline::in_ms(timeout_ms_);
  link_.close_if_stale();
  auto changed = replace_if_same(account, before);
  if (!changed && link_.was_refused_by_replica()) changed = replace_if_same(account, before);
  return changed ? wait_for_replicas(deadline) : changed;
}

// All of it is asked on one connection, because the server watches the key for that one alone.
// After a failure the connection is closed, so that no later command meets the open transaction.
base::Status RedisStore::replace_if_same(const Account& account, std::string_view before) {
  const std::string key = key_of(account.user);
  if (const auto watched = link_.ask({"WATCH", key}); !watched) return watched.error();
  auto now = record_in(link_.ask({"GET", key}));
  base::Status changed = now ? base::Status(another_record()) : base::Status(now.error());
  if (now && *now == before) changed = set_watched(key, account.record);
  if (changed || !link_.is_connected()) return changed;
  if (changed.error().code != ErrorCode::kNotFound || !link_.ask({"UNWATCH"})) link_.close();
  return changed;
}

base::Status RedisStore::set_watched(const std::string& key, std::string_view record) {
  if (const auto begun = link_.ask({"MULTI"}); !begun) return begun.error();
  if (const auto queued = link_.ask({"SET", key, record}); !queued) return queued.error();
  const auto done = link_.ask({"EXEC"});
  if (!done) return done.error();
  if ((*done)->type == REDIS_REPLY_NIL) return another_record();
  if ((*done)->type != REDIS_REPLY_ARRAY || (*done)->elements != 1) return unexpected("EXEC");
  const redisReply& set = *(*done)->element[0];
  if (set.type == REDIS_REPLY_ERROR) return answered_error(set);
  return set.type == REDIS_REPLY_STATUS && text_in(set) == "OK" ? base::Status(base::kDone)
                                                                : unexpected("SET");
}

base::Result<std::string> RedisStore::find_record(std::string_view user) {
  return record_in(ask_repeatable({"GET", key_of(user)}));
}

std::vector<base::Result<std::string>> RedisStore::find_records(
    std::span<const std::string_view> users) {
  std::vector<std::string> keys(users.size());
  std::ranges::transform(users, keys.begin(), key_of);
  const auto replies =
      ask_again_if_stale(link_, timeout_ms_, [&] { return link_.ask_for_each("GET", keys); });
  std::vector<base::Result<std::string>> records;
  if (!replies) {
    records.resize(users.size(), replies.error());
  } else {
    std::ranges::transform(*replies, std::back_inserter(records), record_in);
  }
  return records;
}

base::Status RedisStore::ping() {
  const auto reply = ask_repeatable({"PING"});
  return reply ? base::Status(base::kDone) : base::Status(reply.error());
}

// Whether a reply to SCAN is a cursor and a list of keys that match.
bool is_page(const redisReply& reply) {
  if (reply.type != REDIS_REPLY_ARRAY || reply.elements != 2) return false;
  const redisReply& cursor = *reply.element[0];
  const redisReply& keys = *reply.element[1];
  if (cursor.type != REDIS_REPLY_STRING || keys.type != REDIS_REPLY_ARRAY) return false;
  const std::span<redisReply*> all(keys.element, keys.elements);
  return std::ranges::all_of(all, [](const redisReply* key) {
    return key->type == REDIS_REPLY_STRING && text_in(*key).starts_with(kKeyPrefix);
  });
}

// No user name is empty, so neither command meets an account. XX makes SET fail if the key is not
// there, but only after the server has checked that we may write, and that it is no replica.
base::Status RedisStore::may_ask() {
  if (const auto read = ask_repeatable({"GET", kKeyPrefix}); !read) return read.error();
  const auto written = ask_repeatable({"SET", kKeyPrefix, "", "XX"});
  if (!written) return written.error();
  if (wait_ == 0) return base::kDone;
  const auto have = link_.replicas_with_changes(0, base::Deadline::in_ms(timeout_ms_));
  return have ? base::Status(base::kDone) : base::Status(have.error());
}

base::Status RedisStore::visit_each(std::span<const std::string_view> users,
                                    const std::function<void(const Account&)>& visit) {
  const auto records = find_records(users);
  for (std::size_t i = 0; i < users.size(); ++i) {
    if (records[i]) visit({users[i], *records[i]});
    const bool is_removed = !records[i] && records[i].error().code == ErrorCode::kNotFound;
    if (!records[i] && !is_removed) return records[i].error();
  }
  return base::kDone;
}

base::Status RedisStore::for_each(const std::function<void(const Account&)>& visit) {
  std::string cursor = "0";
  do {
    const auto page = ask_repeatable({"SCAN", cursor, "MATCH", "user:*", "COUNT", "100"});
    if (!page) return page.error();
    if (!is_page(**page)) return unexpected("SCAN");
    const std::span<redisReply*> parts((*page)->element, (*page)->elements);
    std::vector<std::string_view> users;
    for (const redisReply* key : std::span(parts[1]->element, parts[1]->elements))
      users.push_back(text_in(*key).substr(kKeyPrefix.size()));
    // A page may be longer than it was asked for, and all replies together have a limit.
    for (std::span<const std::string_view> left(users); !left.empty();) {
      const auto some = left.first(std::min(left.size(), kAtOnce));
      if (const auto visited = visit_each(some, visit); !visited) return visited;
      left = left.subspan(some.size());
    }
    cursor = text_in(*parts[0]);
  } while (cursor != "0");
  return base::kDone;
}

base::Result<RedisLink::Reply> RedisStore::ask_repeatable(RedisLink::Words words) {
  return ask_again_if_stale(link_, timeout_ms_, [&] { return link_.ask(words); });
}

// The reply of a primary is its role, its offset, and a list of its replicas. Without --redis-wait
// their number does not matter.
std::optional<std::size_t> RedisStore::replicas() {
  if (wait_ == 0) return {};
  const auto reply = ask_repeatable({"ROLE"});
  if (!reply || (*reply)->type != REDIS_REPLY_ARRAY || (*reply)->elements != 3) return {};
  const redisReply& list = *(*reply)->element[2];
  return list.type == REDIS_REPLY_ARRAY ? std::optional(list.elements) : std::nullopt;
}

std::string RedisStore::setting(std::string_view name) {
  const auto reply = ask_repeatable({"CONFIG", "GET", name});
  if (!reply || (*reply)->type != REDIS_REPLY_ARRAY || (*reply)->elements < 2) return {};
  if ((*reply)->element[1]->type != REDIS_REPLY_STRING) return {};
  return std::string(text_in(*(*reply)->element[1]));
}

void warn_when_replicas_are_short(std::size_t replicas, int wait) {
  if (std::cmp_greater_equal(replicas, wait)) return;
  base::log::warn(
      "the store has fewer replicas than --redis-wait asks for, so no account can be made now "
      "replicas={} wait={}",
      replicas, wait);
}

}  // namespace

void RedisBackend::declare_flags(flags::App& app) {
  app.group("Redis");
  flags::Option* const host = app.add_option("--redis-host", options_.host, "host of the server")
                                  ->type_name("HOST")
                                  ->capture_default_str();
  flags::add_whole(app, "--redis-port", options_.port, 1, 65535,
                   "port of the server; with --redis-sentinel: of servers that are added later");
  const auto take_socket = [this](const std::string& path) {
    options_.socket = path.empty() ? "" : "unix:" + path;
    return path.empty() || net::parse_host_port_or_unix(options_.socket).has_value();
  };
  flags::Option* const socket =
      app.add_parsed("--redis-socket", "PATH",
                     fmt::format("an absolute path of at most {} bytes", net::kMaxUnixPathBytes),
                     "socket file of the server, instead of host and port", take_socket);
  flags::add_secret(app, "--redis-password", options_.password, options_.password_file);
  flags::add_whole(app, "--redis-database", options_.database, 0, 1'000'000,
                   "number of the database");
  declare_tls_flags(app);
  declare_sentinel_flags(app, host, socket);
}

void RedisBackend::declare_tls_flags(flags::App& app) {
  flags::add_choice<bool>(app, "--redis-tls", options_.is_encrypted, {{"off", false}, {"on", true}},
                          "encrypt the connections; those to sentinels too; what --redis-host or "
                          "a sentinel names must stand in the certificate");
  flags::add_path(app, "--redis-tls-ca", options_.tls_ca,
                  "who issues their certificates, in PEM; by default whom the system trusts");
}

void RedisBackend::declare_sentinel_flags(flags::App& app, flags::Option* host,
                                          flags::Option* socket) {
  const auto take_sentinels = [this](const std::string& text) {
    options_.sentinels = parse_sentinels(text);
    return !options_.sentinels.empty();
  };
  auto* const sentinel = app.add_parsed(
      "--redis-sentinel", "HOST:PORT,...", "HOST:PORT, or several with commas between them",
      "the sentinels, which say where the server is; they get the password only if they ask for it",
      take_sentinels);
  const flags::Alternative by_sentinel{sentinel, [this] { options_.sentinels.clear(); }};
  flags::make_alternatives(by_sentinel, {host, [this] { options_.host = RedisOptions().host; }});
  flags::make_alternatives(by_sentinel, {socket, [this] { options_.socket.clear(); }});
  app.add_option("--redis-primary", options_.primary,
                 "name of the primary, as the sentinels know it")
      ->type_name("NAME")
      ->capture_default_str();
  flags::add_whole(app, "--redis-wait", options_.wait, 0, 1000,
                   "how many replicas must have an account before it is acknowledged");
}

std::optional<std::string> RedisBackend::read_secrets() {
  if (!options_.is_encrypted && !options_.tls_ca.empty())
    return "--redis-tls-ca needs --redis-tls on";
  if (options_.is_encrypted && !options_.socket.empty())
    return "--redis-tls on needs --redis-host, as a socket file has no name";
  if (options_.is_encrypted) {
    options_.encryption =
        std::make_shared<tls::ClientContext>(tls::ClientFiles{.authorities = options_.tls_ca});
  }
  if (options_.password_file.empty()) return {};
  auto password = flags::read_secret_file("--redis-password-file", options_.password_file);
  if (!password) return password.error().context;
  options_.password = std::move(*password);
  return {};
}

// The servers can take each other's place, so each of them is allowed. Landlock knows ports only.
guard::Allowed RedisBackend::needs(const StoreLimits& limits) const {
  guard::Allowed allowed;
  allowed.connect_to(name().host, name().port);
  if (options_.is_encrypted) tls::allow_trusting(options_.tls_ca, allowed.readable);
  const auto certificates = read_certificates();  // prepare() says what is wrong with them
  if (options_.sentinels.empty() || !certificates) return allowed;
  for (const net::HostPort& one : options_.sentinels) allowed.connect_to(one.host, one.port);
  // No thread may be started yet, so names are looked up in this one.
  std::vector<net::HostPort> numeric;
  for (const net::HostPort& one : options_.sentinels) {
    const auto found = host_.resolver()(one);
    for (std::size_t at = 0; found && at < found->size(); ++at)
      numeric.push_back({(*found)[at].host(), one.port});
  }
  RedisOptions options = options_;
  options.sentinels = std::move(numeric);
  SentinelsLearnt nothing;
  RedisSentinels sentinels(options, host_.resolver(), nothing);
  const auto servers =
      sentinels.ask_for_all_servers(base::Deadline::in_ms(limits.timeout_ms), limits.timeout_ms);
  for (const net::HostPort& one : servers) allowed.connect_to(one.host, one.port);
  return allowed;
}

// The first time before the sandbox hides the settings of the system.
base::Status RedisBackend::read_certificates() const {
  if (options_.encryption == nullptr) return base::kDone;
  tls::read_system_settings();
  return options_.encryption->open();
}

base::Status RedisBackend::prepare(const StoreLimits& limits) const {
  if (const auto read = read_certificates(); !read) return read;
  net::ResolvedName host(name(), host_.resolver());
  std::optional<RedisSentinels> sentinels;
  if (!options_.sentinels.empty()) sentinels.emplace(options_, host_.resolver(), *learnt_);
  RedisStore store(options_, host, sentinels ? &*sentinels : nullptr, limits);
  if (const auto ready = store.may_ask(); !ready) return ready;
  std::string durable = meaning_of_settings([&](auto name) { return store.setting(name); });
  const auto replicas = store.replicas();
  const std::string failover = meaning_of_failover(options_, replicas);
  if (!failover.empty()) durable += "; " + failover;
  base::log::info("accounts store=redis {} database={} durable=\"{}\"", where_in_log(),
                  options_.database, durable);
  if (replicas) warn_when_replicas_are_short(*replicas, options_.wait);
  return base::kDone;
}

std::string RedisBackend::where_in_log() const {
  if (options_.sentinels.empty()) return fmt::format("host={} port={}", name().host, name().port);
  return fmt::format("primary={} sentinels={}", options_.primary, to_string(options_.sentinels));
}

std::string RedisBackend::where() const {
  if (options_.sentinels.empty()) return "redis " + net::to_string(name());
  return "redis " + options_.primary + " of the sentinels " + to_string(options_.sentinels);
}

RedisSentinels* RedisBackend::sentinels() const {
  if (options_.sentinels.empty()) return nullptr;
  std::call_once(are_sentinels_made_,
                 [&] { sentinels_.emplace(options_, host_.resolver(), *learnt_); });
  return &*sentinels_;
}

base::Result<std::unique_ptr<AccountStore>> RedisBackend::open(const StoreLimits& limits) const {
  return std::unique_ptr<AccountStore>(
      new RedisStore(options_, host_.at(name()), sentinels(), limits));
}

}  // namespace authserver
