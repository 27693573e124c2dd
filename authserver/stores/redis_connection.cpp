#include "authserver/stores/redis_connection.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <system_error>
#include <utility>

#include "net/connect.h"

namespace authserver {

namespace {

using base::Error;
using base::ErrorCode;

// Redis repeats the arguments of an unknown command in its reply. They may hold a password or a
// record.
std::string without_secrets(std::string_view text) {
  return std::string(text.substr(0, text.find(", with args")));
}

std::string text_of(int errno_value) { return std::generic_category().message(errno_value); }

base::Result<tls::Socket> connect_within(const net::SocketAddress& address, std::int64_t share_ms,
                                         std::int64_t timeout_ms,
                                         const RedisEncryption& encryption) {
  const auto deadline = base::Deadline::in_ms(share_ms);
  auto fd = net::connect_to(address, timeout_ms, nullptr, share_ms);
  if (!fd) return fd.error();
  if (encryption.context == nullptr) return tls::Socket(std::move(*fd));
  return encryption.context->encrypt(std::move(*fd), encryption.name, timeout_ms, deadline);
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
  std::string command;
  const auto append_count = [&command](char kind, std::size_t count) {
    const fmt::format_int digits(count);
    command.append(1, kind).append(digits.data(), digits.size()).append("\r\n");
  };
  append_count('*', words.size());
  for (const std::string_view word : words) {
    append_count('$', word.size());
    command.append(word).append("\r\n");
  }
  return command;
}

void RedisConnection::close_if_stale() {
  if (is_open() && !socket_.is_quiet_and_open()) close();
}

void RedisConnection::close() {
  reader_.reset();
  socket_ = {};
}

base::Status RedisConnection::open(std::span<const net::SocketAddress> addresses,
                                   base::Deadline deadline, std::int64_t timeout_ms,
                                   const RedisEncryption& encryption) {
  base::Status outcome = base::kDone;
  auto left = static_cast<std::int64_t>(addresses.size());
  for (const net::SocketAddress& address : addresses) {
    const std::int64_t share_ms = std::max<std::int64_t>(deadline.left_ms() / left--, 1);
    auto made = connect_within(address, share_ms, timeout_ms, encryption);
    if (made) return take_over(std::move(*made));
    outcome = Error{ErrorCode::kUnavailable, "redis: " + made.error().context};
  }
  return outcome;
}

base::Status RedisConnection::take_over(tls::Socket socket) {
  reader_.reset(::redisReaderCreate());
  if (reader_ == nullptr) return Error{ErrorCode::kUnavailable, "redis: out of memory"};
  socket_ = std::move(socket);
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
  if (socket_.send_all(commands)) return base::kDone;
  const auto error = base::errno_error(ErrorCode::kUnavailable, "redis: send", errno);
  close();
  return error;
}

// The library's own time-out is for each byte that comes, and it reads a reply of any size.
base::Result<RedisConnection::Reply> RedisConnection::next_reply(base::Deadline deadline,
                                                                 std::size_t& bytes_left) {
  for (;;) {
    void* raw = nullptr;
    if (::redisReaderGetReply(reader_.get(), &raw) != REDIS_OK) return give_up(reader_->errstr);
    if (raw != nullptr) return Reply(static_cast<redisReply*>(raw));
    if (const auto received = receive(deadline, bytes_left); !received) return received.error();
  }
}

// Some bytes of a reply.
base::Status RedisConnection::receive(base::Deadline deadline, std::size_t& bytes_left) {
  std::array<char, std::size_t{16} * 1024> bytes;
  ssize_t got = -1;
  do {
    if (deadline.has_passed()) return give_up("no whole reply in time");
    got = socket_.receive_by(bytes, deadline);
  } while (got < 0 && errno == EAGAIN);
  if (got == 0) return give_up("Server closed the connection");
  if (got < 0) return give_up(socket_.failure().empty() ? text_of(errno) : socket_.failure());
  const auto size = static_cast<std::size_t>(got);
  if (size > bytes_left) return give_up("the reply is too long");
  bytes_left -= size;
  if (::redisReaderFeed(reader_.get(), bytes.data(), size) != REDIS_OK)
    return give_up(reader_->errstr);
  return base::kDone;
}

Error RedisConnection::give_up(std::string reason) {
  close();
  return {ErrorCode::kUnavailable, "redis: " + std::move(reason)};
}

}  // namespace authserver
