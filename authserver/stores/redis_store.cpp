#include "authserver/stores/redis_store.h"

#include <sys/time.h>

#include <array>
#include <span>

#include "base/clock.h"
#include "base/log.h"
#include "net/socket_io.h"

namespace authserver {

namespace {

using base::Error;
using base::ErrorCode;

constexpr std::string_view kKeyPrefix = "user:";

std::string key_of(std::string_view user) { return std::string(kKeyPrefix).append(user); }

std::string_view text_in(const redisReply& reply) { return {reply.str, reply.len}; }

// Of a command that it does not take, Redis repeats the words: a password, or a record.
std::string without_secrets(std::string_view text) {
  return std::string(text.substr(0, text.find(", with args")));
}

// An error that Redis answers passes (it is loading, full, a replica, out of disk), save for a
// command it does not take.
Error answered_error(const redisReply& reply) {
  const std::string_view text = text_in(reply);
  const bool is_ours = text.starts_with("WRONGTYPE") || text.starts_with("ERR unknown");
  return {is_ours ? ErrorCode::kInternal : ErrorCode::kUnavailable,
          "redis: " + without_secrets(text)};
}

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
  const auto reply = ask({"SET", key_of(account.user), account.record, "NX"}, Repeat::kUnsafe);
  if (!reply) return reply.error();
  if ((*reply)->type == REDIS_REPLY_NIL) return Error{ErrorCode::kExists, "SET NX"};
  return base::kDone;
}

base::Result<std::string> RedisStore::find_record(std::string_view user) {
  const auto reply = ask({"GET", key_of(user)}, Repeat::kSafe);
  if (!reply) return reply.error();
  if ((*reply)->type == REDIS_REPLY_NIL) return Error{ErrorCode::kNotFound, "no such user"};
  return std::string(text_in(**reply));
}

base::Status RedisStore::ping() {
  const auto reply = ask({"PING"}, Repeat::kSafe);
  return reply ? base::Status(base::kDone) : base::Status(reply.error());
}

base::Status RedisStore::for_each(const std::function<void(const Account&)>& visit) {
  std::string cursor = "0";
  do {
    const auto page = ask({"SCAN", cursor, "MATCH", "user:*", "COUNT", "1000"}, Repeat::kSafe);
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

base::Result<RedisStore::Reply> RedisStore::ask(Words words, Repeat repeat) {
  const bool was_kept = context_ != nullptr;
  // Redis was restarted, or has closed an idle connection: nothing was asked on it yet, so it may
  // be replaced.
  if (was_kept && repeat == Repeat::kUnsafe && !net::is_quiet_and_open(context_->fd))
    context_.reset();
  const auto at_once = base::Deadline::in_ms(config_.timeout_ms / 2);
  auto reply = ask_once(words);
  // A stale one says so at once; a store that hangs has had its time.
  const bool was_stale = !reply && was_kept && context_ == nullptr && !at_once.has_passed();
  return was_stale && repeat == Repeat::kSafe ? ask_once(words) : std::move(reply);
}

base::Result<RedisStore::Reply> RedisStore::ask_once(Words words) {
  if (context_ == nullptr) {
    if (const auto connected = connect(); !connected) return connected.error();
  }
  std::array<const char*, 6> values{};
  std::array<std::size_t, 6> sizes{};
  int count = 0;
  for (const std::string_view word : words) {
    values.at(static_cast<std::size_t>(count)) = word.data();
    sizes.at(static_cast<std::size_t>(count++)) = word.size();
  }
  Reply reply(static_cast<redisReply*>(
      ::redisCommandArgv(context_.get(), count, values.data(), sizes.data())));
  if (reply == nullptr) {
    // Also after a time-out: the late answer must not be taken for the next one's.
    Error error{ErrorCode::kUnavailable, std::string("redis: ") + context_->errstr};
    context_.reset();
    return error;
  }
  if (reply->type == REDIS_REPLY_ERROR) return answered_error(*reply);
  return reply;
}

base::Status RedisStore::connect() {
  if (!backoff_.may_try_now())
    return Error{ErrorCode::kUnavailable, "redis: not reached a moment ago"};
  const timeval limit{config_.timeout_ms / 1000, (config_.timeout_ms % 1000) * 1000};
  const auto at_once = base::Deadline::in_ms(config_.timeout_ms / 2);
  context_.reset(::redisConnectWithTimeout(config_.redis.host.c_str(), config_.redis.port, limit));
  if (context_ == nullptr) return Error{ErrorCode::kUnavailable, "redis: out of memory"};
  base::Status outcome = base::kDone;
  if (context_->err != 0) {
    const std::string where = config_.redis.host + ":" + std::to_string(config_.redis.port);
    outcome =
        Error{ErrorCode::kUnavailable, "redis: connect to " + where + ": " + context_->errstr};
  } else {
    ::redisSetTimeout(context_.get(), limit);
    outcome = log_in();
  }
  if (outcome) {
    backoff_.succeeded();
  } else {
    context_.reset();
    backoff_.failed(at_once.has_passed() ? Backoff::Failure::kAfterWaiting
                                         : Backoff::Failure::kAtOnce);
  }
  return outcome;
}

base::Status RedisStore::log_in() {
  if (!config_.redis.password.empty()) {
    if (const auto reply = ask_once({"AUTH", config_.redis.password}); !reply) return reply.error();
  }
  if (config_.redis.database != 0) {
    if (const auto reply = ask_once({"SELECT", std::to_string(config_.redis.database)}); !reply)
      return reply.error();
  }
  return base::kDone;
}

// Empty when the server does not tell.
std::string RedisStore::setting(std::string_view name) {
  const auto reply = ask({"CONFIG", "GET", name}, Repeat::kSafe);
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
