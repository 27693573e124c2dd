#include "authserver/stores/redis_connection.h"

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

}  // namespace

// Most error replies pass with time: the server is loading, out of memory or disk, or a replica.
// A command that it does not take is our own mistake.
Error answered_error(const redisReply& reply) {
  const std::string_view text = text_in(reply);
  const bool is_ours = text.starts_with("WRONGTYPE") || text.starts_with("ERR unknown");
  return {is_ours ? ErrorCode::kInternal : ErrorCode::kUnavailable,
          "redis: " + without_secrets(text).append(hint_for(text))};
}

std::string redis_command_of(RedisConnection::Words words) {
  std::string command = fmt::format("*{}\r\n", words.size());
  for (const std::string_view word : words)
    fmt::format_to(std::back_inserter(command), "${}\r\n{}\r\n", word.size(), word);
  return command;
}

void RedisConnection::close_if_stale() {
  if (is_open() && !net::is_quiet_and_open(context_->fd)) context_.reset();
}

base::Status RedisConnection::open(std::span<const net::SocketAddress> addresses,
                                   base::Deadline deadline, std::int64_t timeout_ms) {
  base::Status outcome = base::kDone;
  auto left = static_cast<std::int64_t>(addresses.size());
  for (const net::SocketAddress& address : addresses) {
    const std::int64_t share_ms = std::max<std::int64_t>(deadline.left_ms() / left--, 1);
    auto fd = net::connect_to(address, timeout_ms, nullptr, share_ms);
    if (fd) return take_over(std::move(*fd));
    outcome = Error{ErrorCode::kUnavailable, "redis: " + fd.error().context};
  }
  return outcome;
}

base::Status RedisConnection::take_over(net::Fd fd) {
  context_.reset(::redisConnectFd(fd.get()));
  if (context_ == nullptr) return Error{ErrorCode::kUnavailable, "redis: out of memory"};
  fd.release();  // the context closes it
  return base::kDone;
}

base::Result<RedisConnection::Reply> RedisConnection::ask(Words words, base::Deadline deadline) {
  if (const auto sent = send(redis_command_of(words)); !sent) return sent.error();
  std::size_t bytes_left = kMostReplyBytes;
  auto reply = next_reply(deadline, bytes_left);
  if (reply && (*reply)->type == REDIS_REPLY_ERROR) return answered_error(**reply);
  return reply;
}

// Not by the library, which before its version 1.0 crashes if there is no memory for an empty
// buffer once all is sent.
base::Status RedisConnection::send(std::string_view commands) {
  if (net::send_all(context_->fd, commands)) return base::kDone;
  const auto error = base::errno_error(ErrorCode::kUnavailable, "redis: send", errno);
  context_.reset();
  return error;
}

// The library's own time-out is for each byte that comes, and it reads a reply of any size.
base::Result<RedisConnection::Reply> RedisConnection::next_reply(base::Deadline deadline,
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

Error RedisConnection::lost_connection() {
  Error error{ErrorCode::kUnavailable, std::string("redis: ") + context_->errstr};
  context_.reset();
  return error;
}

Error RedisConnection::give_up(const char* reason) {
  context_.reset();
  return {ErrorCode::kUnavailable, std::string("redis: ") + reason};
}

}  // namespace authserver
