// The bytes of one connection: receives them and sends replies, each within its time limits. What
// the bytes mean is the business of a conversation above it, such as LineConversation.
//
// Any failure of the peer ends the stream. After that receive() returns nothing and what is sent is
// dropped, so the caller does not have to check.
//
// Requires: no call that receives, sends or ends is made in a catch handler (base/completes.h).
//
// Threads: one, except for `is_draining`.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <utility>

#include "base/clock.h"
#include "net/fd.h"
#include "net/ip_address.h"
#include "net/socket_io.h"
#include "serve/places.h"

namespace tls {
class Channel;
}  // namespace tls

namespace serve {

class Encrypted;
struct Encryption;

// How far the body of the last reply with a size has come.
struct SizedReply {
  std::uint64_t size_bytes = 0;
  std::uint64_t sent_bytes = 0;  // of its body, that the kernel has taken
  bool is_whole = false;         // the kernel has taken all of it; the peer may not have

  // On the clock of base::now_ns(). Only set with Stream::keep_times(), and once a byte of the
  // reply was sent. The first byte goes out when the call that sends it begins, the last one when
  // its call returns. The times of an empty body are those of its header.
  std::int64_t first_byte_ns = 0;
  std::int64_t last_byte_ns = 0;
};

// Who has logged in on a stream.
struct StreamUser {
  std::int64_t granted_ns = 0;
  std::string name;
  std::string masked_password;
};

class Stream {
 public:
  // Requires: `fd` was accepted from a listener whose time slice is io_slice_ms(idle_timeout_ms),
  // and `peer` is the address that accept() reported.
  //
  // Another thread or a signal handler may set `is_draining` and then shut down the reading side of
  // the socket. After that the conversation has to end when the request under way was answered.
  //
  // A peer has to take `min_rate` bytes per second of a reply, on average over the idle time-out.
  //
  // With `encryption` the peer has to begin with a handshake of TLS. The stream is over if it does
  // not, or if too many others are at it. Who speaks HTTP instead gets 400. A reply that was cut
  // ends without a close_notify.
  Stream(net::Fd fd, const net::IpAddress& peer, std::int64_t idle_timeout_ms,
         const std::atomic<bool>& is_draining, std::int64_t min_rate = 0,
         const Encryption* encryption = nullptr);
  ~Stream();
  Stream(const Stream&) = delete;
  Stream& operator=(const Stream&) = delete;

  bool is_over() const { return is_over_; }

  // Whether the next request must not be taken up. The flag is set before the socket is shut down.
  // If it is missed here, receive() returns at once.
  bool is_draining() const { return is_draining_.load(std::memory_order_acquire); }

  // The time that a peer has from now on for a whole request.
  base::Deadline idle_deadline() const;

  // What `min_rate` asks for in that time; 1 or more.
  std::int64_t least_bytes_per_idle_time() const { return enough_; }

  // Waits for bytes until the deadline. Returns how many came; 0 once the stream is over, because
  // the peer has finished or was idle for too long. The deadline is extended while the peer still
  // takes bytes of a reply. Requires: `into` is not empty.
  std::size_t receive(std::span<char> into, base::Deadline& deadline);

  // The same for the first bytes of a request. Where the server lets connections rest, this does
  // not wait: if no byte is there, it returns 0 with is_resting(). Then the conversation is left,
  // and begun anew when bytes come.
  std::size_t receive_first(std::span<char> into, base::Deadline& deadline);
  bool is_resting() const { return is_resting_; }

  // The time that the peer has for the request that comes next: from the end of the last one, also
  // if the connection has rested since.
  base::Deadline request_deadline();

  // The same for the rest of a request that was taken up, which also comes while the server drains.
  std::size_t receive_rest(std::span<char> into, base::Deadline& deadline);

  // Sends the head and then the body, with one system call if the socket takes them all. Of a range
  // of a file the body is not copied. Waits until the kernel has taken everything. Returns false
  // once the stream is over.
  bool send(std::span<const char> head, std::span<const char> body = {});
  bool send(std::span<const char> head, const net::FilePart& body);

  // From now on the bodies that are sent are those of a reply with this size.
  void begin_sized_reply(std::uint64_t size_bytes);
  const SizedReply& sized_reply() const { return sized_reply_; }

  // The connection is closed behind the reply that begins. The last bytes of one with a size, in
  // memory and in clear, wait for that, for 200 ms at most. So they leave in one segment with the
  // end of the connection, and wake the peer once.
  void close_behind_reply() { closes_behind_reply_ = true; }

  // From now on sized_reply() has times. This costs two looks at the clock for each system call.
  void keep_times() { keeps_times_ = true; }

  // A reply begins whose size is not known. If the connection is closed before its end, the peer
  // sees that it was cut. If only the end of the connection tells its end, the peer sees an error.
  void begin_unsized_reply(bool only_close_ends_it);
  void end_unsized_reply();

  bool is_encrypted() const { return encrypted_ != nullptr; }

  // Whether bytes have come that were not received.
  bool has_unread_bytes() const;

  // Whether the peer has finished sending: it is gone, or only takes this reply yet. Never waits.
  bool has_peer_finished();

  // Ends the stream in the middle of a reply. The peer sees that the connection ends early.
  void abort() { is_over_ = true; }

  // Ends the stream so that what was sent arrives, even if the peer has sent bytes that are not
  // read any more. Waits for the peer for a second at most.
  void end_gently();

  // Ends the stream while the server drains: gently, if what was sent could be lost otherwise.
  void end_for_drain();

  int fd() const { return fd_.get(); }

  // Who is at the other end. Its text is only made when a log line needs it.
  const net::IpAddress& peer() const { return peer_; }

  // For a server that lets connections rest. Requires: the socket never blocks.
  void let_rest() { can_rest_ = true; }
  void end_rest() { is_resting_ = false; }
  void note_bytes() { may_have_more_ = true; }
  void note_end() { has_end_come_ = true; }  // there may be bytes before it
  void note_mark() { has_mark_ = true; }     // an urgent byte: a call may end in front of it

  // When goes_on_resting() is to be called, which returns false if the connection is to be ended.
  const base::Deadline& next_check() const { return next_check_; }
  bool goes_on_resting();

  // What a session keeps while its connection rests. At first 0.
  void keep(int note) { note_ = note; }
  int kept() const { return note_; }

  // Whose last log-in was granted, until another one begins. Null: nobody's. Most connections that
  // wait have nobody, and no room for one.
  void let_in(StreamUser user) {
    note_granted();
    user_ = std::make_unique<StreamUser>(std::move(user));
  }
  void leave_nobody() { user_.reset(); }
  StreamUser* user() { return user_.get(); }

  // From now on `place` is told of requests, until one was granted. It must outlive the stream.
  void take(Place& place) { place_ = &place; }

  // A request was granted, so the connection gives way to nobody any more.
  void note_granted() { was_granted_ = true; }

  // How many requests came, for the totals of the server. The stream is over if the connection has
  // given way to another one before the request came.
  void count_request() {
    ++requests_;
    request_came();
  }

  // Its answers are sent, and the next request is waited for.
  void waits_for_request() {
    if (may_give_way()) place_->waits_again();
  }

  // Only what anybody may send has come of the request. Then request_came() is called again.
  void request_goes_on() {
    if (may_give_way()) place_->request_goes_on();
  }
  void request_came() {
    if (may_give_way() && !place_->request_came()) is_over_ = true;
  }
  std::uint64_t requests() const { return requests_; }

 private:
  template <typename SendSome>
  bool send_body(std::span<const char> head, std::size_t body_bytes, SendSome send_some);
  void note_sent(std::size_t body_bytes, std::int64_t began_ns);
  bool may_still_receive(const base::Deadline& deadline) const;
  bool may_give_way() const { return place_ != nullptr && !was_granted_; }
  bool reply_moves();
  bool reply_still_moves() { return reply_moves() && unacknowledged_ > 0; }
  void restart_reply_time();
  std::size_t note_received(ssize_t received, std::size_t room);
  void look_later();
  ssize_t receive_some(std::span<char> into, base::Deadline& deadline, bool may_wait);
  bool waits_until(base::Deadline& deadline);
  void refuse_plain();
  void say_goodbye();
  tls::Channel* channel() const;  // null: nothing is encrypted

  net::Fd fd_;
  std::unique_ptr<Encrypted> encrypted_;
  const net::IpAddress peer_;
  const std::int64_t idle_timeout_ms_;
  const std::atomic<bool>& is_draining_;
  const std::int64_t enough_;  // the bytes of a reply that the peer must take per idle time-out

  bool is_over_ = false;
  bool can_rest_ = false;
  bool is_resting_ = false;
  bool may_have_more_ = true;  // than was received; false: an event will tell
  bool has_end_come_ = false;  // of which no further event tells
  bool has_mark_ = false;      // among the bytes that are there
  bool has_rested_ = false;    // since the last request
  bool keeps_times_ = false;
  bool closes_behind_reply_ = false;
  bool is_cut_ = false;  // the reply under way, or the last one
  bool resets_ = false;  // at its close
  int note_ = 0;
  std::unique_ptr<StreamUser> user_;
  base::Deadline rest_deadline_ = base::Deadline::never();
  base::Deadline next_check_ = base::Deadline::never();
  base::Deadline reply_deadline_ = base::Deadline::never();  // until then it must take enough_
  std::int64_t taken_ = 0;                                   // what it has taken of that
  SizedReply sized_reply_;
  std::int64_t unacknowledged_ = 0;  // bytes sent and not acknowledged at the last look
  std::uint64_t requests_ = 0;
  bool was_granted_ = false;
  Place* place_ = nullptr;  // null: nobody has to give way
};

}  // namespace serve
