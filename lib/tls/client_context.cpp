#include "tls/client_context.h"

#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>

#include <new>
#include <utility>

#include "tls/channel.h"
#include "tls/server_context.h"

namespace tls {

namespace {

base::Result<std::shared_ptr<SSL_CTX>> read_for_client(const ClientFiles& files) {
  ERR_clear_error();
  const std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_client_method()), &SSL_CTX_free);
  if (context == nullptr) return base::Error{base::ErrorCode::kInternal, "TLS: " + take_reason()};
  set_up_for_both_ends(context.get());
  SSL_CTX_set_verify(context.get(), files.believes_anybody ? SSL_VERIFY_NONE : SSL_VERIFY_PEER,
                     nullptr);
  if (files.authorities.empty()) {
    SSL_CTX_set_default_verify_paths(context.get());
  } else if (const auto done = trust(context.get(), files.authorities); !done) {
    return done.error();
  }
  if (files.own.certificate.empty()) return context;
  if (const auto done = load(context.get(), files.own); !done) return done.error();
  return context;
}

// Whose certificate is expected. Returns false if there is no memory.
bool expect(SSL* ssl, const std::string& name) {
  SSL_set_hostflags(ssl, X509_CHECK_FLAG_NO_PARTIAL_WILDCARDS);
  if (X509_VERIFY_PARAM_set1_ip_asc(SSL_get0_param(ssl), name.c_str()) == 1) return true;
  ERR_clear_error();
  char* const text = const_cast<char*>(name.c_str());
  return SSL_set1_host(ssl, text) == 1 &&
         SSL_ctrl(ssl, SSL_CTRL_SET_TLSEXT_HOSTNAME, TLSEXT_NAMETYPE_host_name, text) == 1;
}

std::string in_alpn(const std::string& spoken) {
  return spoken.empty() ? spoken : static_cast<char>(spoken.size()) + spoken;
}

}  // namespace

ClientContext::ClientContext(ClientFiles files, const std::string& spoken)
    : files_(std::move(files)),
      spoken_(in_alpn(spoken)),
      context_([this] { return read_for_client(files_); }) {}

Socket ClientContext::begin(net::Fd fd, const std::string& name, std::int64_t slice_ms,
                            SSL_SESSION* resumed) {
  SSL* const ssl = SSL_new(context_.current().get());  // which keeps the context
  auto channel = Channel::make(ssl, fd.get(), slice_ms);
  SSL_set_connect_state(ssl);
  if (!expect(ssl, name)) throw std::bad_alloc();
  if (resumed != nullptr && SSL_set_session(ssl, resumed) != 1) throw std::bad_alloc();
  if (!spoken_.empty()) {
    SSL_set_alpn_protos(ssl, reinterpret_cast<const unsigned char*>(spoken_.data()),
                        static_cast<unsigned>(spoken_.size()));
  }
  return {std::move(fd), std::move(channel)};
}

base::Result<Socket> ClientContext::encrypt(net::Fd fd, const std::string& name,
                                            std::int64_t slice_ms, base::Deadline deadline,
                                            SSL_SESSION* resumed) {
  Socket socket = begin(std::move(fd), name, slice_ms, resumed);
  if (const auto done = socket.channel()->shake_hands_by(deadline); !done) return done.error();
  return socket;
}

}  // namespace tls
