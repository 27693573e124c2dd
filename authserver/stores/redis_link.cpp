#include "authserver/stores/redis_link.h"

#include <algorithm>
#include <utility>

namespace authserver {

namespace {

using base::Error;
using base::ErrorCode;

// What a server says that was the primary, and is a replica now. It says so before it does
// anything.
bool is_refusal_by_replica(const Error& error) {
  return error.context.starts_with("redis: READONLY") ||
         error.context.starts_with("redis: MASTERDOWN");
}

// What a primary says that has lost its replicas, maybe to another one (min-replicas-to-write).
bool is_refusal_without_replicas(const Error& error) {
  return error.context.starts_with("redis: NOREPLICAS");
}

// The sandbox refuses with EACCES, which no network does.
Error hint_at_sandbox(const Error& error, const net::HostPort& server) {
  if (!error.context.ends_with("Permission denied")) return error;
  return {error.code,
          "redis: the sandbox forbids " + net::to_string(server) + "; see --redis-port"};
}

}  // namespace

base::Result<RedisLink::Reply> RedisLink::ask(Words words) {
  was_refused_by_replica_ = false;
  if (const auto connected = connect_if_need_be(); !connected) return connected.error();
  auto reply = connection_.ask(words, base::Deadline::in_ms(timeout_ms_));
  if (!reply) learn_from(reply.error());
  return reply;
}

base::Result<std::vector<base::Result<RedisLink::Reply>>> RedisLink::ask_for_each(
    std::string_view command, std::span<const std::string> keys) {
  was_refused_by_replica_ = false;
  if (const auto connected = connect_if_need_be(); !connected) return connected.error();
  std::string commands;
  for (const std::string& key : keys) commands += redis_command_of({command, key});
  if (const auto sent = connection_.send(commands); !sent) return sent.error();
  const auto deadline = base::Deadline::in_ms(timeout_ms_);
  std::size_t bytes_left = RedisConnection::kMostReplyBytes;
  std::vector<base::Result<Reply>> replies;
  replies.reserve(keys.size());
  while (replies.size() < keys.size()) {
    auto reply = connection_.next_reply(deadline, bytes_left);
    if (!reply) return reply.error();
    if ((*reply)->type == REDIS_REPLY_ERROR) {
      replies.emplace_back(answered_error(**reply));
    } else {
      replies.emplace_back(std::move(*reply));
    }
  }
  for (const auto& reply : replies) {
    if (!reply) learn_from(reply.error());
  }
  return replies;
}

// On a new connection the server would count the replicas that have nothing of the change. So this
// never connects.
base::Result<std::int64_t> RedisLink::replicas_with_changes(int least, base::Deadline deadline) {
  // The server must answer before we stop waiting, or it would look as if it were gone. 0 would let
  // it wait for ever.
  const int for_ms = std::max(deadline.left_ms() / 4 * 3, 1);
  const auto reply =
      connection_.ask({"WAIT", std::to_string(least), std::to_string(for_ms)}, deadline);
  if (!reply) return reply.error();
  if ((*reply)->type != REDIS_REPLY_INTEGER)
    return Error{ErrorCode::kInternal, "redis: the reply to WAIT has an unexpected type"};
  return (*reply)->integer;
}

void RedisLink::learn_from(const Error& refusal) {
  if (sentinels_ == nullptr) return;
  if (is_refusal_without_replicas(refusal)) doubt_primary();
  if (!is_refusal_by_replica(refusal)) return;
  was_refused_by_replica_ = true;
  connection_.close();
}

base::Status RedisLink::connect_if_need_be() {
  if (is_primary_in_doubt_) connection_.close();
  is_primary_in_doubt_ = false;
  return is_connected() ? base::Status(base::kDone) : connect();
}

base::Status RedisLink::connect() {
  if (!backoff_.may_try_now()) return waiting_after_failure("redis");
  const FailureTimer timer(timeout_ms_);
  const auto deadline = base::Deadline::in_ms(timeout_ms_);
  const base::Status outcome =
      sentinels_ == nullptr ? connect_to_host(deadline) : connect_to_primary(deadline);
  if (outcome) {
    backoff_.succeeded();
  } else {
    connection_.close();
    backoff_.failed(timer.failure());
  }
  return outcome;
}

base::Status RedisLink::connect_to_host(base::Deadline deadline) {
  const auto addresses = host_.addresses(deadline);
  if (!addresses) return Error{ErrorCode::kUnavailable, "redis: " + addresses.error().context};
  const auto opened = connection_.open(*addresses, deadline, timeout_ms_,
                                       {options_.encryption.get(), host_.name().host});
  if (!opened) host_.none_works();
  return opened ? log_in(base::Deadline::in_ms(timeout_ms_)) : opened;
}

// Asks all sentinels, beginning with the one that answered last. Each has an equal share of the
// time, with the server that it names: after a failover it may name the old one for a while.
base::Status RedisLink::connect_to_primary(base::Deadline deadline) {
  const std::size_t count = sentinels_->count();
  const std::size_t first = sentinels_->first();
  base::Status outcome = base::kDone;
  for (std::size_t tried = 0; tried < count; ++tried) {
    const std::size_t sentinel = (first + tried) % count;
    const auto left = static_cast<std::int64_t>(count - tried);
    const std::int64_t share_ms = std::max<std::int64_t>(deadline.left_ms() / left, 1);
    outcome = connect_as_told_by(sentinel, base::Deadline::in_ms(share_ms));
    if (outcome) return outcome;
    connection_.close();
  }
  return outcome;
}

base::Status RedisLink::connect_as_told_by(std::size_t sentinel, base::Deadline deadline) {
  const auto named = sentinels_->ask_for_primary(sentinel, deadline, timeout_ms_);
  if (!named) return named.error();
  const auto addresses = sentinels_->addresses_of(*named, deadline);
  if (!addresses) return Error{ErrorCode::kUnavailable, "redis: " + addresses.error().context};
  const auto opened =
      connection_.open(*addresses, deadline, timeout_ms_, {options_.encryption.get(), named->host});
  if (!opened) return hint_at_sandbox(opened.error(), *named);
  if (const auto logged_in = log_in(deadline); !logged_in) return logged_in;
  if (const auto checked = check_role(*named, deadline); !checked) return checked;
  sentinels_->has_led_to(sentinel, *named);
  return base::kDone;
}

base::Status RedisLink::log_in(base::Deadline deadline) {
  if (!options_.password.empty()) {
    const auto reply = connection_.ask({"AUTH", options_.password}, deadline);
    if (!reply) return reply.error();
  }
  if (options_.database != 0) {
    const auto reply = connection_.ask({"SELECT", std::to_string(options_.database)}, deadline);
    if (!reply) return reply.error();
  }
  return base::kDone;
}

base::Status RedisLink::check_role(const net::HostPort& server, base::Deadline deadline) {
  const auto reply = connection_.ask({"ROLE"}, deadline);
  if (!reply) return reply.error();
  const redisReply& role = **reply;
  const bool is_role = role.type == REDIS_REPLY_ARRAY && role.elements > 0 &&
                       role.element[0]->type == REDIS_REPLY_STRING;
  if (is_role && text_in(*role.element[0]) == "master") return base::kDone;
  return Error{ErrorCode::kUnavailable,
               "redis: the sentinel names " + net::to_string(server) + ", which is no primary"};
}

}  // namespace authserver
