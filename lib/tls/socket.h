// The end of a client of a connection to another server: in clear, or in TLS.
#pragma once

#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <utility>

#include "base/clock.h"
#include "net/fd.h"
#include "net/socket_io.h"
#include "tls/channel.h"

namespace tls {

// Owns the descriptor, and tells the peer before it closes it. The calls are those of
// net/socket_io.h. One thread at a time; give it to another by moving it.
class Socket {
 public:
  Socket() = default;
  // In clear. NOLINTNEXTLINE(google-explicit-constructor): a descriptor is such a socket.
  Socket(net::Fd fd) : fd_(std::move(fd)) {}
  Socket(net::Fd fd, std::unique_ptr<Channel> channel)
      : fd_(std::move(fd)), channel_(std::move(channel)) {}
  Socket(Socket&&) noexcept = default;
  Socket& operator=(Socket&& other) noexcept {
    std::swap(fd_, other.fd_);
    std::swap(channel_, other.channel_);
    return *this;
  }
  ~Socket() {
    if (channel_) channel_->say_goodbye();
  }

  bool is_open() const { return fd_.is_open(); }
  int get() const { return fd_.get(); }

  // Take it apart. Nothing is owned afterwards.
  net::Fd release_fd() { return std::move(fd_); }
  std::unique_ptr<Channel> release_channel() { return std::move(channel_); }

  // As net::send_all() and net::send_now().
  bool send_all(std::string_view bytes);
  ssize_t send_now(std::string_view bytes) {
    return channel_ ? channel_->try_send(bytes) : net::send_now(get(), bytes);
  }

  // As net::receive() and net::receive_now().
  ssize_t receive(std::span<char> into) {
    return channel_ ? channel_->receive(into) : net::receive(get(), into);
  }
  ssize_t receive_now(std::span<char> into) {
    return channel_ ? channel_->try_receive(into) : net::receive_now(get(), into);
  }

  // As net::discard(), without waiting. Requires: the socket never blocks.
  ssize_t discard_now(std::span<char> into) {
    return channel_ ? channel_->try_receive(into) : net::discard(get(), into);
  }

  // The same as receive(), but not after the deadline: then it fails with EAGAIN.
  ssize_t receive_by(std::span<char> into, base::Deadline deadline);

  // Whether bytes were taken from the connection and not received yet, of which no event tells.
  bool has_pending() const { return channel_ && channel_->has_pending(); }

  // Whether a call that has received `got` bytes into this room may have left some, of which no
  // event tells.
  bool may_have_more(ssize_t got, std::size_t room) const {
    return channel_ ? channel_->may_have_more() : static_cast<std::size_t>(got) == room;
  }

  // As net::is_quiet_and_open().
  bool is_quiet_and_open() const { return !has_pending() && net::is_quiet_and_open(get()); }

  // Whether the other end has said something, or has ended, while more was to be sent to it.
  bool has_answer() { return channel_ ? channel_->has_answer() : !net::is_quiet_and_open(get()); }

  // Null: it is in clear. Valid until the socket is moved.
  Channel* channel() { return channel_.get(); }
  const Channel* channel() const { return channel_.get(); }

  // Why an encrypted connection broke; empty if nothing is known.
  std::string failure() const { return channel_ ? channel_->failure() : std::string(); }

 private:
  net::Fd fd_;
  std::unique_ptr<Channel> channel_;  // null: in clear
};

}  // namespace tls
