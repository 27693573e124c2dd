// What a client of a server begins its encrypted connections with.
#pragma once

#include <string>

#include "base/clock.h"
#include "base/result.h"
#include "net/fd.h"
#include "tls/key_pair.h"
#include "tls/renewed_context.h"
#include "tls/socket.h"

namespace tls {

struct ClientFiles {
  std::string authorities;  // that the server's certificate is from; empty: those of the system
  Files own = {};           // that the server asks for; empty: there are none
  bool believes_anybody = false;  // whatever certificate the server has
};

// The server must have a certificate of one of these authorities, with the name or the address by
// which it was asked for. TLS 1.2 and 1.3.
//
// Threads: any.
class ClientContext {
 public:
  // `spoken` is offered in ALPN; empty: nothing is. Reads no file yet.
  explicit ClientContext(ClientFiles files, const std::string& spoken = {});

  // Reads the files, if that was not done before. kInternal with one line that says what is wrong
  // with which of them. Called before there are other threads.
  base::Status open() { return context_.open(); }

  // See RenewedContext.
  base::Status read_again() { return context_.read_again(); }

  // Makes the handshake on a connection to the server `name`, a host name or an address, within the
  // deadline. No call on the socket takes longer than `slice_ms`. `resumed`, unless that is null,
  // is a Channel::session() of an earlier connection, which is resumed if the server still knows
  // it. kUnavailable with the reason. Throws std::bad_alloc. Requires: open() has succeeded.
  base::Result<Socket> encrypt(net::Fd fd, const std::string& name, std::int64_t slice_ms,
                               base::Deadline deadline, ssl_session_st* resumed = nullptr);

  // The same, but the handshake is not begun. Channel::try_to_shake_hands() makes it.
  Socket begin(net::Fd fd, const std::string& name, std::int64_t slice_ms,
               ssl_session_st* resumed = nullptr);

 private:
  const ClientFiles files_;
  const std::string spoken_;  // as ALPN has it: a length and a name
  RenewedContext context_;
};

}  // namespace tls
