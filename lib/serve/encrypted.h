// A connection that is encrypted, with the limits of its handshake: in time, in number for each
// address, and in all.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <string>

#include "base/clock.h"
#include "net/ip_address.h"
#include "serve/places.h"
#include "tls/channel.h"
#include "tls/server_context.h"

namespace serve {

// How many handshakes are under way. No address has more than a quarter of them, so half a
// handshake of one keeps nobody else out. It may lie in shared memory. Any thread and any process.
class Handshakes {
 public:
  // Requires: most > 0.
  explicit Handshakes(int most) : most_(most) {}

  // Nothing if there is no place. Otherwise end() gives it back.
  std::optional<AddressShares::Group> begin(const net::IpAddress& peer);
  void end(AddressShares::Group group);

 private:
  const int most_;
  std::atomic<int> under_way_ = 0;  // relaxed: only a count
  AddressShares shares_;
};

// The place of a handshake that is under way in a child process. If the child is killed, its parent
// gives the place back. It may lie in shared memory.
class HandshakeNote {
 public:
  void begins(AddressShares::Group group) { group_ = static_cast<std::int64_t>(group); }
  void ends() { group_ = kNone; }

  // Called by the parent once the child has ended.
  void settle(Handshakes& handshakes);

 private:
  static constexpr std::int64_t kNone = -1;
  std::atomic<std::int64_t> group_ = kNone;
};

// What a front needs to encrypt. It must outlive the server.
struct Encryption {
  tls::ServerContext& context;
  tls::Spoken spoken;
  Handshakes& handshakes;
  HandshakeNote* note = nullptr;  // null: the server has no child processes
};

// What a connection over --max-connections is told: nothing, as it would not understand a word.
std::string no_answer();

// The encryption of one connection. Threads: one.
class Encrypted {
 public:
  // The longest handshake. It is shorter if the idle time-out is.
  static constexpr std::int64_t kHandshakeMs = 10'000;

  // Null: too many handshakes are under way. `fd` must outlive it. Throws std::bad_alloc.
  static std::unique_ptr<Encrypted> begin(const Encryption& encryption, int fd,
                                          const net::IpAddress& peer, std::int64_t idle_timeout_ms);
  ~Encrypted();
  Encrypted(const Encrypted&) = delete;
  Encrypted& operator=(const Encrypted&) = delete;

  // Makes the deadline that of the handshake, while that is under way and ends earlier.
  void bound(base::Deadline& deadline) const;

  // As net::receive(), or as net::receive_now() if it may not wait. Once the handshake is made, the
  // deadline is `next`.
  template <typename Next>
  ssize_t receive(std::span<char> into, bool may_wait, base::Deadline& deadline, Next next) {
    const ssize_t received = may_wait ? channel_->receive(into) : channel_->receive_now(into);
    if (is_under_way_ && note_progress(received)) deadline = next();
    return received;
  }

  tls::Channel& channel() { return *channel_; }
  const tls::Channel& channel() const { return *channel_; }

 private:
  Encrypted(std::unique_ptr<tls::Channel> channel, const Encryption& encryption,
            AddressShares::Group group, std::int64_t time_ms);
  bool note_progress(ssize_t received);
  void end_handshake();

  const std::unique_ptr<tls::Channel> channel_;
  Handshakes& handshakes_;
  HandshakeNote* const note_;
  const AddressShares::Group group_;
  const base::Deadline deadline_;  // of the handshake
  bool is_under_way_ = true;
};

}  // namespace serve
