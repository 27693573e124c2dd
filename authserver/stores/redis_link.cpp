#include "authserver/stores/redis_link.h"

#include <sys/time.h>

#include <array>

#include "net/socket_io.h"

namespace authserver {

namespace {

using base::Error;
using base::ErrorCode;

// Redis repeats the arguments of an unknown command in its reply. They may hold a password or a
// record.
std::string without_secrets(std::string_view text) {
  return std::string(text.substr(0, text.find(", with args")));
}

// Most error replies pass with time: the server is loading, out of memory or disk, or a replica.
// A command that it does not take is our own mistake.
Error answered_error(const redisReply& reply) {
  const std::string_view text = text_in(reply);
  const bool is_ours = text.starts_with("WRONGTYPE") || text.starts_with("ERR unknown");
  return {is_ours ? ErrorCode::kInternal : ErrorCode::kUnavailable,
          "redis: " + without_secrets(text)};
}

}  // namespace

void RedisLink::close_if_stale() {
  if (is_connected() && !net::is_quiet_and_open(context_->fd)) context_.reset();
}

base::Result<RedisLink::Reply> RedisLink::ask(Words words) {
  if (!is_connected()) {
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
    Error error{ErrorCode::kUnavailable, std::string("redis: ") + context_->errstr};
    context_.reset();
    return error;
  }
  if (reply->type == REDIS_REPLY_ERROR) return answered_error(*reply);
  return reply;
}

base::Status RedisLink::connect() {
  if (!backoff_.may_try_now())
    return Error{ErrorCode::kUnavailable,
                 "redis: the last connection attempt failed; waiting before the next one"};
  const timeval limit{timeout_ms_ / 1000, (timeout_ms_ % 1000) * 1000};
  const FailureTimer timer(timeout_ms_);
  context_.reset(::redisConnectWithTimeout(options_.host.c_str(), options_.port, limit));
  if (context_ == nullptr) return Error{ErrorCode::kUnavailable, "redis: out of memory"};
  base::Status outcome = base::kDone;
  if (context_->err != 0) {
    const std::string where = options_.host + ":" + std::to_string(options_.port);
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
    backoff_.failed(timer.failure());
  }
  return outcome;
}

base::Status RedisLink::log_in() {
  if (!options_.password.empty()) {
    if (const auto reply = ask({"AUTH", options_.password}); !reply) return reply.error();
  }
  if (options_.database != 0) {
    if (const auto reply = ask({"SELECT", std::to_string(options_.database)}); !reply)
      return reply.error();
  }
  return base::kDone;
}

}  // namespace authserver
