#include "authserver/stores/redis_link.h"

#include <fmt/format.h>

#include <algorithm>
#include <cerrno>
#include <iterator>
#include <utility>

#include "net/connect.h"
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

// What to do about an error reply.
std::string_view hint_for(std::string_view text) {
  if (text.starts_with("NOAUTH")) return "; name the file of the password by --redis-password-file";
  if (text.starts_with("WRONGPASS"))
    return "; the password in --redis-password-file or --redis-password is another one";
  return "";
}

// Most error replies pass with time: the server is loading, out of memory or disk, or a replica.
// A command that it does not take is our own mistake.
Error answered_error(const redisReply& reply) {
  const std::string_view text = text_in(reply);
  const bool is_ours = text.starts_with("WRONGTYPE") || text.starts_with("ERR unknown");
  return {is_ours ? ErrorCode::kInternal : ErrorCode::kUnavailable,
          "redis: " + without_secrets(text).append(hint_for(text))};
}

// As Redis reads it: the number of words, then each behind its length.
std::string command_of(RedisLink::Words words) {
  std::string command = fmt::format("*{}\r\n", words.size());
  for (const std::string_view word : words)
    fmt::format_to(std::back_inserter(command), "${}\r\n{}\r\n", word.size(), word);
  return command;
}

}  // namespace

void RedisLink::close_if_stale() {
  if (is_connected() && !net::is_quiet_and_open(context_->fd)) context_.reset();
}

base::Result<RedisLink::Reply> RedisLink::ask(Words words) {
  if (const auto connected = connect_if_need_be(); !connected) return connected.error();
  if (const auto sent = send(command_of(words)); !sent) return sent.error();
  std::size_t bytes_left = kMostReplyBytes;
  auto reply = next_reply(base::Deadline::in_ms(timeout_ms_), bytes_left);
  if (reply && (*reply)->type == REDIS_REPLY_ERROR) return answered_error(**reply);
  return reply;
}

base::Result<std::vector<base::Result<RedisLink::Reply>>> RedisLink::ask_for_each(
    std::string_view command, std::span<const std::string> keys) {
  if (const auto connected = connect_if_need_be(); !connected) return connected.error();
  std::string commands;
  for (const std::string& key : keys) commands += command_of({command, key});
  if (const auto sent = send(commands); !sent) return sent.error();
  const auto deadline = base::Deadline::in_ms(timeout_ms_);
  std::size_t bytes_left = kMostReplyBytes;
  std::vector<base::Result<Reply>> replies;
  replies.reserve(keys.size());
  while (replies.size() < keys.size()) {
    auto reply = next_reply(deadline, bytes_left);
    if (!reply) return reply.error();
    if ((*reply)->type == REDIS_REPLY_ERROR) {
      replies.emplace_back(answered_error(**reply));
    } else {
      replies.emplace_back(std::move(*reply));
    }
  }
  return replies;
}

// Not by the library, which before its version 1.0 crashes if there is no memory for an empty
// buffer once all is sent.
base::Status RedisLink::send(std::string_view commands) {
  if (net::send_all(context_->fd, commands)) return base::kDone;
  const auto error = base::errno_error(ErrorCode::kUnavailable, "redis: send", errno);
  context_.reset();
  return error;
}

// The library's own time-out is for each byte that comes, and it reads a reply of any size.
base::Result<RedisLink::Reply> RedisLink::next_reply(base::Deadline deadline,
                                                     std::size_t& bytes_left) {
  const redisReader& reader = *context_->reader;
  for (;;) {
    void* raw = nullptr;
    if (::redisGetReplyFromReader(context_.get(), &raw) != REDIS_OK) return lost_connection();
    if (raw != nullptr) return Reply(static_cast<redisReply*>(raw));
    if (deadline.has_passed() || !net::wait_until_readable(context_->fd, deadline))
      return give_up("no whole reply in time");
    const std::size_t before = reader.len;
    if (::redisBufferRead(context_.get()) != REDIS_OK) return lost_connection();
    const std::size_t received = reader.len - before;
    if (received > bytes_left) return give_up("the reply is too long");
    bytes_left -= received;
  }
}

Error RedisLink::lost_connection() {
  Error error{ErrorCode::kUnavailable, std::string("redis: ") + context_->errstr};
  context_.reset();
  return error;
}

Error RedisLink::give_up(const char* reason) {
  context_.reset();
  return {ErrorCode::kUnavailable, std::string("redis: ") + reason};
}

base::Status RedisLink::connect_if_need_be() {
  return is_connected() ? base::Status(base::kDone) : connect();
}

base::Status RedisLink::connect() {
  if (!backoff_.may_try_now()) return waiting_after_failure("redis");
  const FailureTimer timer(timeout_ms_);
  base::Status outcome = open_socket(base::Deadline::in_ms(timeout_ms_));
  if (outcome) outcome = log_in();
  if (outcome) {
    backoff_.succeeded();
  } else {
    context_.reset();
    backoff_.failed(timer.failure());
  }
  return outcome;
}

// Tries all addresses of the host in their order. Each gets an equal share of the time.
base::Status RedisLink::open_socket(base::Deadline deadline) {
  const auto addresses = host_.addresses(deadline);
  if (!addresses) return Error{ErrorCode::kUnavailable, "redis: " + addresses.error().context};
  base::Status outcome = base::kDone;
  auto left = static_cast<std::int64_t>(addresses->size());
  for (const net::SocketAddress& address : *addresses) {
    const std::int64_t share_ms = std::max<std::int64_t>(deadline.left_ms() / left--, 1);
    auto fd = net::connect_to(address, timeout_ms_, nullptr, share_ms);
    if (fd) return take_over(std::move(*fd));
    outcome = Error{ErrorCode::kUnavailable, "redis: " + fd.error().context};
  }
  host_.none_works();
  return outcome;
}

base::Status RedisLink::take_over(net::Fd fd) {
  context_.reset(::redisConnectFd(fd.get()));
  if (context_ == nullptr) return Error{ErrorCode::kUnavailable, "redis: out of memory"};
  fd.release();  // the context closes it
  return base::kDone;
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
