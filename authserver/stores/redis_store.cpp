#include "authserver/stores/redis_store.h"

#include <algorithm>
#include <iterator>
#include <span>

#include "authserver/stores/redis_link.h"
#include "base/log.h"
#include "flags/secrets.h"
#include "flags/values.h"

namespace authserver {

namespace {

using base::Error;
using base::ErrorCode;

class RedisStore : public AccountStore {
 public:
  // `options` and `host` must outlive it.
  RedisStore(const RedisOptions& options, net::ResolvedName& host, const StoreLimits& limits)
      : timeout_ms_(limits.timeout_ms), link_(options, host, limits.timeout_ms) {}

  base::Status create(const Account& account) override {
    return set(account, "NX", {ErrorCode::kExists, "the user exists"});
  }
  base::Status replace(const Account& account) override {
    return set(account, "XX", {ErrorCode::kNotFound, "no such user"});
  }
  base::Status remove(std::string_view user) override;
  base::Result<std::string> find_record(std::string_view user) override;
  std::vector<base::Result<std::string>> find_records(
      std::span<const std::string_view> users) override;
  base::Status ping() override;
  base::Status for_each(const std::function<void(const Account&)>& visit) override;
  bool is_connected() const override { return link_.is_connected(); }
  void disconnect() override { link_.close(); }

  // Succeeds if accounts can be read and added. Changes nothing.
  base::Status may_ask();

  // The value of one CONFIG setting. Empty if the server does not tell it.
  std::string setting(std::string_view name);

 private:
  // Sets the record if the condition of SET holds. Otherwise returns `unmet`.
  base::Status set(const Account& account, std::string_view condition, const Error& unmet);

  // For commands that do no harm when asked twice.
  base::Result<RedisLink::Reply> ask_repeatable(RedisLink::Words words);

  const std::int64_t timeout_ms_;
  RedisLink link_;
};

constexpr std::string_view kKeyPrefix = "user:";

std::string key_of(std::string_view user) { return std::string(kKeyPrefix).append(user); }

// Of a server that is not Redis, or of something between it and us.
Error unexpected(const std::string& command) {
  return {ErrorCode::kInternal, "redis: the reply to " + command + " has an unexpected type"};
}

// What the reply to GET says.
base::Result<std::string> record_in(const base::Result<RedisLink::Reply>& reply) {
  if (!reply) return reply.error();
  if ((*reply)->type == REDIS_REPLY_NIL) return Error{ErrorCode::kNotFound, "no such user"};
  if ((*reply)->type != REDIS_REPLY_STRING) return unexpected("GET");
  return std::string(text_in(**reply));
}

base::Status RedisStore::set(const Account& account, std::string_view condition,
                             const Error& unmet) {
  link_.close_if_stale();
  const auto reply = link_.ask({"SET", key_of(account.user), account.record, condition});
  if (!reply) return reply.error();
  if ((*reply)->type == REDIS_REPLY_NIL) return unmet;
  if ((*reply)->type == REDIS_REPLY_STATUS && text_in(**reply) == "OK") return base::kDone;
  return unexpected("SET");
}

base::Status RedisStore::remove(std::string_view user) {
  link_.close_if_stale();
  const auto reply = link_.ask({"DEL", key_of(user)});
  if (!reply) return reply.error();
  if ((*reply)->type != REDIS_REPLY_INTEGER) return unexpected("DEL");
  if ((*reply)->integer > 0) return base::kDone;
  return Error{ErrorCode::kNotFound, "no such user"};
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
  return written ? base::Status(base::kDone) : base::Status(written.error());
}

base::Status RedisStore::for_each(const std::function<void(const Account&)>& visit) {
  std::string cursor = "0";
  do {
    const auto page = ask_repeatable({"SCAN", cursor, "MATCH", "user:*", "COUNT", "250"});
    if (!page) return page.error();
    if (!is_page(**page)) return unexpected("SCAN");
    const std::span<redisReply*> parts((*page)->element, (*page)->elements);
    for (const redisReply* key : std::span(parts[1]->element, parts[1]->elements)) {
      const std::string_view user = text_in(*key).substr(kKeyPrefix.size());
      const auto record = find_record(user);
      if (!record && record.error().code == ErrorCode::kNotFound) continue;  // removed meanwhile
      if (!record) return record.error();
      visit({user, *record});
    }
    cursor = text_in(*parts[0]);
  } while (cursor != "0");
  return base::kDone;
}

base::Result<RedisLink::Reply> RedisStore::ask_repeatable(RedisLink::Words words) {
  return ask_again_if_stale(link_, timeout_ms_, [&] { return link_.ask(words); });
}

std::string RedisStore::setting(std::string_view name) {
  const auto reply = ask_repeatable({"CONFIG", "GET", name});
  if (!reply || (*reply)->type != REDIS_REPLY_ARRAY || (*reply)->elements < 2) return {};
  if ((*reply)->element[1]->type != REDIS_REPLY_STRING) return {};
  return std::string(text_in(*(*reply)->element[1]));
}

// What the server does to accounts that it has acknowledged, if its settings let it lose them while
// it runs. Empty if they do not. Keys here never expire, so only the policies "allkeys-..." remove
// them.
std::string meaning_of_eviction(RedisStore& store) {
  const std::string policy = store.setting("maxmemory-policy");
  if (!policy.starts_with("allkeys") || store.setting("maxmemory") == "0") return {};
  return "maxmemory-policy " + policy +
         ": accounts are lost when the memory is full, and others may take their names";
}

std::string meaning_of_always(RedisStore& store) {
  if (store.setting("no-appendfsync-on-rewrite") == "no")
    return "appendonly always: on disk before OK";
  return "appendonly always with no-appendfsync-on-rewrite: a power cut while the server saves or "
         "rewrites its files may lose accounts";
}

std::string meaning_of_durable(RedisStore& store) {
  if (auto evicted = meaning_of_eviction(store); !evicted.empty()) return evicted;
  const std::string append_only = store.setting("appendonly");
  if (append_only == "yes") {
    const std::string fsync = store.setting("appendfsync");
    if (fsync == "always") return meaning_of_always(store);
    if (fsync == "everysec")
      return "appendonly everysec: a power cut may lose the last second of accounts";
    return "appendonly " + fsync +
           ": a power cut may lose accounts that the system has not written yet";
  }
  if (append_only == "no") {
    const std::string save = store.setting("save");
    if (save.empty()) return "no persistence: accounts are lost when the server stops";
    return "snapshots only (save " + save +
           "): accounts since the last one are lost when the server dies";
  }
  return "unknown, because the server does not disclose its settings";
}

}  // namespace

void RedisBackend::declare_flags(flags::App& app) {
  app.group("Redis");
  app.add_option("--redis-host", options_.host, "host of the server")
      ->type_name("HOST")
      ->capture_default_str();
  flags::add_whole(app, "--redis-port", options_.port, 1, 65535, "port of the server");
  const auto take_socket = [this](const std::string& path) {
    options_.socket = path.empty() ? "" : "unix:" + path;
    return path.empty() || net::parse_host_port_or_unix(options_.socket).has_value();
  };
  app.add_parsed("--redis-socket", "PATH",
                 fmt::format("an absolute path of at most {} bytes", net::kMaxUnixPathBytes),
                 "socket file of the server, instead of host and port", take_socket);
  flags::add_secret(app, "--redis-password", options_.password, options_.password_file);
  flags::add_whole(app, "--redis-database", options_.database, 0, 1'000'000,
                   "number of the database");
}

std::optional<std::string> RedisBackend::read_secrets() {
  if (options_.password_file.empty()) return {};
  auto password = flags::read_secret_file("--redis-password-file", options_.password_file);
  if (!password) return password.error().context;
  options_.password = std::move(*password);
  return {};
}

guard::Allowed RedisBackend::needs() const {
  guard::Allowed allowed;
  allowed.connect_to(name().host, name().port);
  return allowed;
}

base::Status RedisBackend::prepare(const StoreLimits& limits) const {
  net::ResolvedName host(name(), host_.resolver());
  RedisStore store(options_, host, limits);
  if (const auto ready = store.may_ask(); !ready) return ready;
  base::log::info("accounts store=redis host={} port={} database={} durable=\"{}\"", name().host,
                  name().port, options_.database, meaning_of_durable(store));
  return base::kDone;
}

std::string RedisBackend::where() const { return "redis " + net::to_string(name()); }

base::Result<std::unique_ptr<AccountStore>> RedisBackend::open(const StoreLimits& limits) const {
  return std::unique_ptr<AccountStore>(new RedisStore(options_, host_.at(name()), limits));
}

}  // namespace authserver
