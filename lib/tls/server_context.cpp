#include "tls/server_context.h"

#include <netinet/in.h>
#include <netinet/tcp.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <openssl/x509.h>
#include <sys/socket.h>

#include <cerrno>
#include <ctime>
#include <span>
#include <string_view>
#include <system_error>
#include <utility>

#include "base/log.h"
#include "net/fd.h"

namespace tls {

namespace {

using base::Error;
using base::ErrorCode;

constexpr std::int64_t kDayS = 24 * 60 * 60;
constexpr std::int64_t kWarningS = 14 * kDayS;

// As ALPN lists it: a length and a name.
std::string_view alpn_of(Spoken spoken) {
  return spoken == Spoken::kHttp ? "\x08http/1.1" : "\x09turnstile";
}

const unsigned char* as_bytes(std::string_view text) {
  return reinterpret_cast<const unsigned char*>(text.data());
}

int choose_protocol(SSL* ssl, const unsigned char** chosen, unsigned char* size,
                    const unsigned char* offered, unsigned int offered_size, void* /*unused*/) {
  const std::string_view ours = *static_cast<const std::string_view*>(SSL_get_app_data(ssl));
  unsigned char* found = nullptr;
  if (SSL_select_next_proto(&found, size, as_bytes(ours), static_cast<unsigned>(ours.size()),
                            offered, offered_size) != OPENSSL_NPN_NEGOTIATED)
    return SSL_TLSEXT_ERR_ALERT_FATAL;
  *chosen = found;
  return SSL_TLSEXT_ERR_OK;
}

// Whether the client offers TLS 1.3: the extension is a length, then versions of two bytes.
bool offers_1_3(SSL* ssl) {
  const unsigned char* versions = nullptr;
  std::size_t size = 0;
  if (SSL_client_hello_get0_ext(ssl, TLSEXT_TYPE_supported_versions, &versions, &size) != 1)
    return false;
  const std::span list(versions, size);
  for (std::size_t i = 1; i + 1 < list.size(); i += 2) {
    if (list[i] == (TLS1_3_VERSION >> 8) && list[i + 1] == (TLS1_3_VERSION & 0xff)) return true;
  }
  return false;
}

// A ticket of TLS 1.2 holds the keys of the connection, under a key that lives as long as the
// context. So whoever gets that one day could read all that was sent. One of TLS 1.3 does not.
int look_at_hello(SSL* ssl, int* /*alert*/, void* /*unused*/) {
  if (!offers_1_3(ssl)) SSL_set_options(ssl, SSL_OP_NO_TICKET);
  return SSL_CLIENT_HELLO_SUCCESS;
}

void set_up(SSL_CTX* context) {
  set_up_for_both_ends(context);
  SSL_CTX_set_options(context, SSL_OP_CIPHER_SERVER_PREFERENCE | SSL_OP_PRIORITIZE_CHACHA);
  SSL_CTX_set_num_tickets(context, 1);
  SSL_CTX_set_alpn_select_cb(context, &choose_protocol, nullptr);
  SSL_CTX_set_client_hello_cb(context, &look_at_hello, nullptr);
}

// Nobody resumes where clients have certificates: connections are kept for long, and a ticket that
// comes late would look like an answer that nobody has asked for.
base::Status demand_certificates(SSL_CTX* context, const std::string& client_ca) {
  SSL_CTX_set_verify(context, SSL_VERIFY_PEER | SSL_VERIFY_FAIL_IF_NO_PEER_CERT, nullptr);
  SSL_CTX_set_num_tickets(context, 0);
  SSL_CTX_set_options(context, SSL_OP_NO_TICKET);
  return trust(context, client_ca);
}

base::Result<std::shared_ptr<SSL_CTX>> read(const Files& files, const std::string& client_ca) {
  ERR_clear_error();
  const std::shared_ptr<SSL_CTX> context(SSL_CTX_new(TLS_server_method()), &SSL_CTX_free);
  if (context == nullptr) return Error{ErrorCode::kInternal, "TLS: " + take_reason()};
  set_up(context.get());
  if (files.in_kernel) SSL_CTX_set_options(context.get(), SSL_OP_ENABLE_KTLS);
  if (const auto done = load(context.get(), files); !done) return done.error();
  if (client_ca.empty()) return context;
  if (const auto done = demand_certificates(context.get(), client_ca); !done) return done.error();
  return context;
}

std::int64_t end_of(SSL_CTX* context) {
  std::tm utc{};
  if (ASN1_TIME_to_tm(X509_get0_notAfter(SSL_CTX_get0_certificate(context)), &utc) != 1) return 0;
  return ::timegm(&utc);
}

}  // namespace

void set_up_for_both_ends(SSL_CTX* context) {
  if (SSL_CTX_get_min_proto_version(context) < TLS1_2_VERSION)  // the system may ask for more
    SSL_CTX_set_min_proto_version(context, TLS1_2_VERSION);
  SSL_CTX_set_cipher_list(context, "ECDHE+AESGCM:ECDHE+CHACHA20");  // of TLS 1.2
  SSL_CTX_set_options(context,
                      SSL_OP_NO_RENEGOTIATION | SSL_OP_NO_COMPRESSION | SSL_OP_CLEANSE_PLAINTEXT);
  SSL_CTX_set_mode(context, SSL_MODE_ENABLE_PARTIAL_WRITE | SSL_MODE_ACCEPT_MOVING_WRITE_BUFFER |
                                SSL_MODE_RELEASE_BUFFERS);
  SSL_CTX_set_read_ahead(context, 1);  // one recv() for a record and its header
  SSL_CTX_set_session_cache_mode(context, SSL_SESS_CACHE_OFF);
}

// Only a connection can be given to it. So a kernel that can says that this is none.
std::string why_not_in_kernel() {
  const net::Fd socket(::socket(AF_INET, SOCK_STREAM | SOCK_CLOEXEC, IPPROTO_TCP));
  constexpr std::string_view kName = "tls";
  if (::setsockopt(socket.get(), IPPROTO_TCP, TCP_ULP, kName.data(), kName.size()) == 0) return {};
  return errno == ENOTCONN ? std::string() : std::generic_category().message(errno);
}

void read_system_settings() { OPENSSL_init_ssl(OPENSSL_INIT_LOAD_CONFIG, nullptr); }

base::Result<std::unique_ptr<ServerContext>> ServerContext::open(Files files,
                                                                 std::string client_ca) {
  std::unique_ptr<ServerContext> made(new ServerContext(std::move(files), std::move(client_ca)));
  if (const auto done = made->context_.open(); !done) return done.error();
  return made;
}

ServerContext::ServerContext(Files files, std::string client_ca)
    : files_(std::move(files)),
      client_ca_(std::move(client_ca)),
      context_([this] { return read(files_, client_ca_); },
               [this](SSL_CTX* context, RenewedContext::Logs logs) { note(context, logs); }) {}

void ServerContext::note(SSL_CTX* context, RenewedContext::Logs logs) {
  const std::int64_t end_s = end_of(context);
  not_after_s_ = end_s;
  if (logs == RenewedContext::Logs::kNo) return;
  warn_at_s_ = end_s - kWarningS;
  base::log::info("certificate file={} days_left={}", base::log::quoted_long(files_.certificate),
                  (end_s - std::time(nullptr)) / kDayS);
  warn_of_end();
}

void ServerContext::warn_of_end() {
  const std::int64_t now_s = std::time(nullptr);
  std::int64_t warn_at_s = warn_at_s_.load(std::memory_order_relaxed);
  if (now_s < warn_at_s || !warn_at_s_.compare_exchange_strong(warn_at_s, now_s + kDayS)) return;
  const std::int64_t left_s = not_after_s_.load(std::memory_order_relaxed) - now_s;
  base::log::warn("the certificate {} file={} days_left={}", left_s > 0 ? "ends soon" : "has ended",
                  base::log::quoted_long(files_.certificate), left_s / kDayS);
}

std::unique_ptr<Channel> ServerContext::accept(int fd, Spoken spoken, std::int64_t slice_ms) {
  static const std::string_view kHttp = alpn_of(Spoken::kHttp);
  static const std::string_view kLines = alpn_of(Spoken::kLines);
  warn_of_end();
  SSL* const ssl = SSL_new(context_.current().get());  // which keeps the context
  auto channel = Channel::make(ssl, fd, slice_ms);
  SSL_set_accept_state(ssl);
  SSL_set_app_data(ssl, const_cast<std::string_view*>(spoken == Spoken::kHttp ? &kHttp : &kLines));
  return channel;
}

}  // namespace tls
