#include "authserver/stores/redis_store.h"

#include <span>

#include "base/log.h"

namespace authserver {

namespace {

using base::Error;
using base::ErrorCode;

constexpr std::string_view kKeyPrefix = "user:";

std::string key_of(std::string_view user) { return std::string(kKeyPrefix).append(user); }

}  // namespace

base::Status RedisStore::prepare(const StoreConfig& config) {
  RedisStore store(config);
  if (const auto reached = store.ping(); !reached) return reached;
  base::log::info("accounts store=redis host={} port={} database={} durable=\"{}\"",
                  config.redis.host, config.redis.port, config.redis.database,
                  store.meaning_of_durable());
  return base::kDone;
}

base::Status RedisStore::create(const Account& account) {
  link_.close_if_stale();
  const auto reply = link_.ask({"SET", key_of(account.user), account.record, "NX"});
  if (!reply) return reply.error();
  if ((*reply)->type == REDIS_REPLY_NIL) return Error{ErrorCode::kExists, "SET NX"};
  return base::kDone;
}

base::Result<std::string> RedisStore::find_record(std::string_view user) {
  const auto reply = ask_repeatable({"GET", key_of(user)});
  if (!reply) return reply.error();
  if ((*reply)->type == REDIS_REPLY_NIL) return Error{ErrorCode::kNotFound, "no such user"};
  return std::string(text_in(**reply));
}

base::Status RedisStore::ping() {
  const auto reply = ask_repeatable({"PING"});
  return reply ? base::Status(base::kDone) : base::Status(reply.error());
}

base::Status RedisStore::for_each(const std::function<void(const Account&)>& visit) {
  std::string cursor = "0";
  do {
    const auto page = ask_repeatable({"SCAN", cursor, "MATCH", "user:*", "COUNT", "1000"});
    if (!page) return page.error();
    const std::span<redisReply*> parts((*page)->element, (*page)->elements);
    for (const redisReply* key : std::span(parts[1]->element, parts[1]->elements)) {
      const std::string_view user = text_in(*key).substr(kKeyPrefix.size());
      const auto record = find_record(user);
      if (!record) return record.error();
      visit({user, *record});
    }
    cursor = text_in(*parts[0]);
  } while (cursor != "0");
  return base::kDone;
}

base::Result<RedisLink::Reply> RedisStore::ask_repeatable(RedisLink::Words words) {
  return ask_again_if_stale(link_, config_.timeout_ms, [&] { return link_.ask(words); });
}

// Empty when the server does not tell.
std::string RedisStore::setting(std::string_view name) {
  const auto reply = ask_repeatable({"CONFIG", "GET", name});
  if (!reply || (*reply)->type != REDIS_REPLY_ARRAY || (*reply)->elements < 2) return {};
  return std::string(text_in(*(*reply)->element[1]));
}

std::string RedisStore::meaning_of_durable() {
  const std::string append_only = setting("appendonly");
  if (append_only == "yes") {
    const std::string fsync = setting("appendfsync");
    if (fsync == "always") return "appendonly always: on disk before OK";
    if (fsync == "everysec")
      return "appendonly everysec: a power cut may lose the last second of accounts";
    return "appendonly " + fsync + ": a power cut may lose what the system has not written yet";
  }
  if (append_only == "no") {
    const std::string save = setting("save");
    if (save.empty()) return "no persistence: accounts are lost when the server stops";
    return "snapshots only (save " + save +
           "): accounts since the last one are lost when the server dies";
  }
  return "the server does not tell its setting";
}

}  // namespace authserver
