// The certificate and key of a server, and the connections that it encrypts. TLS 1.2 and 1.3, with
// forward secrecy only, and without renegotiation, compression and early data.
//
// No list of groups is set, so that key exchange is what the installed OpenSSL thinks best.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>

#include "base/result.h"
#include "tls/channel.h"
#include "tls/key_pair.h"
#include "tls/renewed_context.h"

namespace tls {

// What is spoken inside, as ALPN names it. A client that offers others and not this one gets no
// connection; one that offers none does.
enum class Spoken { kHttp, kLines };

// Reads what the system says about TLS (openssl.cnf: least versions, security level, FIPS). Called
// before a sandbox closes that folder; else it would be passed over.
void read_system_settings();

// Why the kernel cannot encrypt what a server sends; empty if it can.
std::string why_not_in_kernel();

// What both ends of a connection set, for the one and the other.
void set_up_for_both_ends(ssl_ctx_st* context);

// Threads: any.
class ServerContext {
 public:
  // kInternal with one line that says what is wrong with which file. Logs when the certificate
  // ends, and warns from 14 days before on, then once a day when somebody connects.
  //
  // `client_ca` is a file in PEM. If it is not empty, a client without a certificate of one of
  // these authorities gets no connection.
  static base::Result<std::unique_ptr<ServerContext>> open(Files files, std::string client_ca = {});

  // See RenewedContext.
  base::Status read_again() { return context_.read_again(); }

  // A connection whose handshake is not made yet. `fd` must outlive it. See Channel for `slice_ms`.
  // Throws std::bad_alloc.
  std::unique_ptr<Channel> accept(int fd, Spoken spoken, std::int64_t slice_ms);

  // When the certificate ends, in seconds since 1970.
  std::int64_t not_after_s() {
    context_.current();  // which a child may have to read first
    return not_after_s_.load(std::memory_order_relaxed);
  }

 private:
  ServerContext(Files files, std::string client_ca);
  void note(ssl_ctx_st* context, RenewedContext::Logs logs);
  void warn_of_end();

  const Files files_;
  const std::string client_ca_;
  std::atomic<std::int64_t> not_after_s_ = 0;  // relaxed: each stands alone
  std::atomic<std::int64_t> warn_at_s_ = 0;
  RenewedContext context_;
};

}  // namespace tls
