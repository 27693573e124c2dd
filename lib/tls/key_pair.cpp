#include "tls/key_pair.h"

#include <fcntl.h>
#include <fmt/core.h>
#include <openssl/err.h>
#include <openssl/pem.h>
#include <openssl/ssl.h>
#include <openssl/x509v3.h>
#include <sys/stat.h>

#include <cerrno>
#include <filesystem>
#include <memory>
#include <span>
#include <string_view>
#include <system_error>

#include "base/file_io.h"
#include "net/fd.h"

namespace tls {

namespace {

using base::Error;
using base::ErrorCode;

constexpr off_t kMostFileBytes = off_t{1} << 20;
constexpr int kLeastSecurityBits = 112;  // RSA with 2048 bits has as many

using Certificate = std::unique_ptr<X509, decltype(&X509_free)>;
using Key = std::unique_ptr<EVP_PKEY, decltype(&EVP_PKEY_free)>;
using Text = std::unique_ptr<BIO, decltype(&BIO_free)>;

enum class Secret { kNo, kYes };

Error wrong(const std::string& path, std::string_view what) {
  return {ErrorCode::kInternal, fmt::format("{}: {}", path, what)};
}

std::string text_of(int errno_value) { return std::generic_category().message(errno_value); }

// A text that is wiped when it is not needed any more.
class Wiped {
 public:
  explicit Wiped(std::size_t size) : text_(size, '\0') {}
  ~Wiped() { OPENSSL_cleanse(text_.data(), text_.size()); }
  Wiped(Wiped&&) = default;
  Wiped& operator=(Wiped&&) = delete;
  std::span<char> bytes() { return text_; }
  Text reader() const {
    return {BIO_new_mem_buf(text_.data(), static_cast<int>(text_.size())), &BIO_free};
  }

 private:
  std::string text_;
};

base::Result<Wiped> read_file(const std::string& path, Secret secret) {
  const net::Fd fd(base::retried(
      [&] { return ::open(path.c_str(), O_RDONLY | O_CLOEXEC | O_NOCTTY | O_NONBLOCK); }));
  if (!fd.is_open()) return wrong(path, text_of(errno));
  struct stat status {};
  if (::fstat(fd.get(), &status) != 0) return wrong(path, text_of(errno));
  if (!S_ISREG(status.st_mode)) return wrong(path, "not a regular file");
  if (status.st_size > kMostFileBytes) return wrong(path, "over 1 MiB");
  if (secret == Secret::kYes && (status.st_mode & S_IRWXO) != 0)
    return wrong(path, fmt::format("others may use the key (mode {:04o}); chmod o= {}",
                                   status.st_mode & 07777, path));
  Wiped text(static_cast<std::size_t>(status.st_size));
  const ssize_t got = base::read_fully_at(fd.get(), text.bytes(), 0);
  if (got < 0) return wrong(path, text_of(errno));
  return text;
}

// Instead of a question at the terminal.
int refuse_to_ask(char* /*buffer*/, int /*size*/, int /*writes*/, void* was_asked) {
  *static_cast<bool*>(was_asked) = true;
  return -1;
}

base::Status wrong_certificate(const std::string& path, X509* certificate) {
  const unsigned long code = ERR_peek_error();
  if (ERR_GET_REASON(code) != SSL_R_EE_KEY_TOO_SMALL)
    return wrong(path, "the certificate cannot be used: " + take_reason());
  ERR_clear_error();
  return wrong(path, fmt::format("the key is weak, with {} bits; RSA needs 2048",
                                 EVP_PKEY_get_bits(X509_get0_pubkey(certificate))));
}

base::Status load_certificate(SSL_CTX* context, const std::string& path) {
  const auto text = read_file(path, Secret::kNo);
  if (!text) return text.error();
  const Text reader = text->reader();
  const Certificate first(PEM_read_bio_X509_AUX(reader.get(), nullptr, nullptr, nullptr),
                          &X509_free);
  if (first == nullptr) {
    ERR_clear_error();
    return wrong(path, "no certificate in PEM");
  }
  EVP_PKEY* const key = X509_get0_pubkey(first.get());
  if (key != nullptr && EVP_PKEY_get_security_bits(key) < kLeastSecurityBits) {
    return wrong(
        path, fmt::format("the key is weak, with {} bits; RSA needs 2048", EVP_PKEY_get_bits(key)));
  }
  if (SSL_CTX_use_certificate(context, first.get()) != 1)
    return wrong_certificate(path, first.get());
  for (;;) {
    Certificate next(PEM_read_bio_X509(reader.get(), nullptr, nullptr, nullptr), &X509_free);
    if (next == nullptr) break;
    if (SSL_CTX_add0_chain_cert(context, next.get()) != 1)
      return wrong(path, "a certificate of the chain cannot be used: " + take_reason());
    static_cast<void>(next.release());
  }
  const bool is_at_end = ERR_GET_REASON(ERR_peek_error()) == PEM_R_NO_START_LINE;
  if (!is_at_end) return wrong(path, "a certificate of the chain is no PEM: " + take_reason());
  ERR_clear_error();
  return base::kDone;
}

base::Status load_key(SSL_CTX* context, const Files& files) {
  const auto text = read_file(files.key, Secret::kYes);
  if (!text) return text.error();
  bool is_encrypted = false;
  const Key key(
      PEM_read_bio_PrivateKey(text->reader().get(), nullptr, &refuse_to_ask, &is_encrypted),
      &EVP_PKEY_free);
  ERR_clear_error();
  if (is_encrypted)
    return wrong(files.key, "the key is encrypted; openssl pkey writes it without a pass phrase");
  if (key == nullptr) return wrong(files.key, "no private key in PEM");
  const X509* const certificate = SSL_CTX_get0_certificate(context);
  if (EVP_PKEY_eq(X509_get0_pubkey(certificate), key.get()) != 1 ||
      SSL_CTX_use_PrivateKey(context, key.get()) != 1) {
    ERR_clear_error();
    return wrong(files.key, "not the key of " + files.certificate);
  }
  return base::kDone;
}

}  // namespace

base::Status load(SSL_CTX* context, const Files& files) {
  ERR_clear_error();
  if (const auto done = load_certificate(context, files.certificate); !done) return done;
  return load_key(context, files);
}

// An authority need not be a root: what is in the file is believed. Its extensions are read now,
// and not by the first handshake, while others look at them.
base::Status trust(SSL_CTX* context, const std::string& authorities) {
  ERR_clear_error();
  const auto text = read_file(authorities, Secret::kNo);
  if (!text) return text.error();
  const Text reader = text->reader();
  X509_STORE* const store = SSL_CTX_get_cert_store(context);
  int count = 0;
  for (;; ++count) {
    const Certificate one(PEM_read_bio_X509_AUX(reader.get(), nullptr, nullptr, nullptr),
                          &X509_free);
    if (one == nullptr) break;
    X509_check_purpose(one.get(), -1, 0);
    if (X509_STORE_add_cert(store, one.get()) != 1)
      return wrong(authorities, "a certificate cannot be used: " + take_reason());
  }
  const bool is_at_end = ERR_GET_REASON(ERR_peek_error()) == PEM_R_NO_START_LINE;
  if (count == 0) ERR_clear_error();
  if (count == 0) return wrong(authorities, "no certificate in PEM");
  if (!is_at_end) return wrong(authorities, "a certificate is no PEM: " + take_reason());
  ERR_clear_error();
  X509_STORE_set_flags(store, X509_V_FLAG_PARTIAL_CHAIN);
  return base::kDone;
}

void allow_reading(std::initializer_list<std::string> files, std::vector<std::string>& readable) {
  for (const std::string& path : files) {
    if (path.empty()) continue;
    std::error_code ignored;  // what cannot be found cannot be read, which is reported
    readable.push_back(std::filesystem::absolute(path, ignored).parent_path());
    readable.push_back(std::filesystem::weakly_canonical(path, ignored).parent_path());
  }
}

void allow_trusting(const std::string& authorities, std::vector<std::string>& readable) {
  if (!authorities.empty()) return allow_reading({authorities}, readable);
  allow_reading({X509_get_default_cert_file(), std::string(X509_get_default_cert_dir()) + "/any"},
                readable);
  // What the links there name.
  readable.insert(readable.end(), {"/usr/share/ca-certificates", "/usr/local/share/ca-certificates",
                                   "/etc/pki/ca-trust", "/etc/pki/tls/certs"});
}

std::string take_reason() {
  const char* const text = ERR_reason_error_string(ERR_peek_error());
  std::string reason = text == nullptr ? "unknown" : text;
  ERR_clear_error();
  return reason;
}

}  // namespace tls
