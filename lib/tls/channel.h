// One encrypted connection, with the calls of net/socket_io.h. The handshake of a server is made by
// the first calls that receive. On a thread with a base::Waits another thread computes it.
//
// Each call waits as its namesake does: once, and for a time slice at most. So the caller sees its
// deadlines in time, however slowly the peer sends parts of a record.
//
// Threads: one at a time.
#pragma once

#include <sys/types.h>

#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/result.h"
#include "net/socket_io.h"

struct bio_st;
struct ssl_session_st;
struct ssl_st;

namespace tls {

class Channel {
 public:
  // Takes `ssl` over, whatever fails, which knows whether the kernel shall encrypt. `fd` must
  // outlive the channel. `slice_ms` is the longest time of one call; 0: no limit. Throws
  // std::bad_alloc, also for null.
  static std::unique_ptr<Channel> make(ssl_st* ssl, int fd, std::int64_t slice_ms);
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  // Makes the handshake of a client. kUnavailable with the reason when it failed, or was not made
  // before the deadline.
  base::Status shake_hands_by(base::Deadline deadline);

  // The same without waiting. False: it goes on when the socket is ready for wanted().
  base::Result<bool> try_to_shake_hands();

  // After EAGAIN, or false of try_to_shake_hands(): the event of the socket that is waited for,
  // POLLIN or POLLOUT.
  short wanted() const { return wanted_; }

  // As net::receive() and net::receive_now(). EPROTO: the peer does not speak TLS, or breaks it.
  // 0: the peer has finished. Whether it has said so, or only the socket ended, is not told.
  // EAGAIN when the handshake has just been made and no byte is there behind it.
  ssize_t receive(std::span<char> into);
  ssize_t receive_now(std::span<char> into);

  // Whether there are bytes that were taken from the socket and not received yet, of which no event
  // tells. They may be a part of a record only.
  bool has_pending() const;

  // The same, or the socket may have more, because it was not emptied.
  bool may_have_more() const { return !is_drained_ || has_pending(); }

  // Send some of the head and of the body, as net::send_parts() does. After EAGAIN the caller has
  // to go on with the same bytes. Requires: is_established().
  ssize_t send(std::span<const char> head, std::span<const char> body);
  ssize_t send(std::span<const char> head, const net::FilePart& body);

  // The rest is for a client, once the handshake was made.

  // As receive(), until the deadline: EAGAIN when it has passed.
  ssize_t receive_by(std::span<char> into, base::Deadline deadline);

  // Never wait, whatever OpenSSL waits for. They may be called where a loop looks at events.
  ssize_t try_receive(std::span<char> into) { return read(into, false); }
  ssize_t try_send(std::span<const char> bytes) { return write(bytes, false); }

  // Whether an answer of the server, its end or a failure can be received now. Takes what is none
  // of these, such as a ticket. Never waits.
  bool has_answer();

  // What a later connection to the server resumes; null if it has given nothing for that yet.
  std::shared_ptr<ssl_session_st> session() const;

  // Whether the handshake has resumed an earlier connection.
  bool is_resumed() const;

  // Why the connection broke; empty if it has not.
  std::string failure() const;

  bool is_established() const { return is_established_; }

  // Whether the first byte was a capital letter: the peer speaks HTTP without TLS. Nothing was sent
  // to it.
  bool is_plain() const { return is_plain_; }

  // Whether the peer has said that it sends no more, and all it sent was received. Never waits.
  bool has_peer_finished();

  // How many bytes the socket has taken since the last call. These are more than those of replies,
  // unless the kernel encrypts.
  std::int64_t take_raw_sent() { return std::exchange(raw_sent_, 0); }

  // Tells the peer that nothing was cut off. Never waits.
  void say_goodbye();

 private:
  friend struct ChannelCalls;

  Channel(ssl_st* ssl, int fd, std::int64_t slice_ms) : ssl_(ssl), fd_(fd), slice_ms_(slice_ms) {}
  void take_calls();
  void let_kernel_encrypt();
  ssize_t noted(ssize_t sent);

  template <typename Call>
  ssize_t tried(bool may_block, Call call);
  ssize_t failed(int failure);
  template <typename Send>
  ssize_t waited(Send send);
  bool waits(std::optional<base::Deadline>& deadline) const;
  ssize_t shake_hands(bool may_block);
  ssize_t read(std::span<char> into, bool may_block);
  ssize_t write(std::span<const char> bytes, bool may_block);
  bool waits_by(base::Deadline deadline) const;
  ssize_t send_some(std::span<const char> head, std::span<const char> body);
  ssize_t send_some(std::span<const char> head, net::FilePart left);
  int read_raw(char* into, int size);
  int write_raw(const char* bytes, int size);

  ssl_st* const ssl_;
  const int fd_;
  const std::int64_t slice_ms_;
  bio_st* writer_ = nullptr;  // of OpenSSL, borrowed; null: the kernel shall not encrypt
  bio_st* kernel_ = nullptr;  // owned; writes once the kernel encrypts
  std::int64_t raw_sent_ = 0;
  std::int64_t raw_received_ = 0;  // since the handshake, or the last byte of a message
  unsigned long reason_ = 0;       // that OpenSSL noted when it broke
  short wanted_ = 0;               // after EAGAIN: the event of the socket that it waits for
  bool may_block_ = false;         // the next system call
  bool has_begun_ = false;         // a byte has come
  bool has_ended_ = false;         // the socket says so, which may be while the server drains
  bool is_drained_ = false;        // the socket had no more at the last look
  bool is_plain_ = false;
  bool is_established_ = false;
  bool is_in_kernel_ = false;  // the socket takes bytes in clear, and the kernel encrypts them
  bool is_broken_ = false;
};

}  // namespace tls
