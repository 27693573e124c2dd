// The certificate and key of a server, and the connections that it encrypts. TLS 1.2 and 1.3, with
// forward secrecy only, and without renegotiation, compression and early data.
//
// No list of groups is set, so that key exchange is what the installed OpenSSL thinks best.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>

#include "base/mutex.h"
#include "base/result.h"
#include "tls/channel.h"
#include "tls/key_pair.h"

struct ssl_ctx_st;

namespace tls {

// What is spoken inside, as ALPN names it. A client that offers others and not this one gets no
// connection; one that offers none does.
enum class Spoken { kHttp, kLines };

// Reads what the system says about TLS (openssl.cnf: least versions, security level, FIPS). Called
// before a sandbox closes that folder; else it would be passed over.
void read_system_settings();

// Threads: any.
class ServerContext {
 public:
  // kInternal with one line that says what is wrong with which file. Logs when the certificate
  // ends, and warns from 14 days before on, then once a day when somebody connects.
  static base::Result<std::unique_ptr<ServerContext>> open(Files files);

  // Connections that begin from now on have what the files say now. If that cannot be used, logs
  // why, and nothing changes. Requires: no two threads call it at once.
  base::Status read_again();

  // A connection whose handshake is not made yet. `fd` must outlive it. See Channel for `slice_ms`.
  // Throws std::bad_alloc.
  std::unique_ptr<Channel> accept(int fd, Spoken spoken, std::int64_t slice_ms);

  // When the certificate ends, in seconds since 1970.
  std::int64_t not_after_s() const { return not_after_s_.load(std::memory_order_relaxed); }

 private:
  explicit ServerContext(Files files) : files_(std::move(files)) {}
  void take(std::shared_ptr<ssl_ctx_st> context) EXCLUDES(mutex_);
  void warn_of_end();

  const Files files_;
  std::atomic<std::int64_t> not_after_s_ = 0;  // relaxed: each stands alone
  std::atomic<std::int64_t> warn_at_s_ = 0;

  base::Mutex mutex_;
  std::shared_ptr<ssl_ctx_st> context_ GUARDED_BY(mutex_);  // connections share it until they end
};

}  // namespace tls
