#include "tls/channel.h"

#include <openssl/bio.h>
#include <openssl/err.h>
#include <openssl/ssl.h>
#include <poll.h>
#include <sys/socket.h>
#include <sys/uio.h>
#include <unistd.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <new>
#include <string>
#include <utility>
#include <vector>

#include "base/file_io.h"
#include "base/waits.h"

namespace tls {

namespace {

constexpr std::size_t kRecordBytes = std::size_t{16} * 1024;
constexpr std::size_t kFileBytes = std::size_t{64} * 1024;  // of one read

// What a peer may send without a byte of a message in it: more than two records. OpenSSL goes on
// receiving for as long as records come that only change keys.
constexpr std::int64_t kMostRawBytes = 128 * 1024;

constexpr int kTryAgainMs = 10;

// What is gathered for records, for all connections of the thread. Nobody may wait while something
// is in it that was not sent yet: others would write over it meanwhile.
std::span<char> gathered() {
  thread_local std::vector<char> bytes(kFileBytes);
  return bytes;
}

iovec part_of(std::span<const char> bytes) {
  return {const_cast<char*>(bytes.data()), bytes.size()};
}

base::Error no_tls(const std::string& why) {
  return {base::ErrorCode::kUnavailable, "no TLS: " + why};
}

std::size_t copy_first(std::span<const char> from, std::span<char> into) {
  const std::size_t size = std::min(from.size(), into.size());
  if (size > 0) std::memcpy(into.data(), from.data(), size);
  return size;
}

}  // namespace

// What OpenSSL calls to receive and send.
struct ChannelCalls {
  static Channel& of(BIO* bio) { return *static_cast<Channel*>(BIO_get_data(bio)); }

  static int read(BIO* bio, char* into, int size) {
    BIO_clear_retry_flags(bio);
    const int got = of(bio).read_raw(into, size);
    if (got < 0 && errno == EAGAIN) BIO_set_retry_read(bio);
    return got;
  }
  static int write(BIO* bio, const char* bytes, int size) {
    BIO_clear_retry_flags(bio);
    BIO* const kernel = of(bio).kernel_;
    const bool in_kernel = kernel != nullptr && BIO_get_ktls_send(kernel);
    const int sent = in_kernel ? BIO_write(kernel, bytes, size) : of(bio).write_raw(bytes, size);
    if (sent < 0 && errno == EAGAIN) BIO_set_retry_write(bio);
    return sent;
  }
  // OpenSSL gives the kernel its keys by the BIO that writes. What is received it decrypts itself.
  static long control(BIO* bio, int command, long number, void* pointer) {
    if (command == BIO_CTRL_FLUSH) return 1;
    const Channel& channel = of(bio);
    return bio == channel.writer_ ? BIO_ctrl(channel.kernel_, command, number, pointer) : 0;
  }
  static BIO_METHOD* make() {
    BIO_METHOD* const made = BIO_meth_new(BIO_TYPE_SOURCE_SINK | BIO_get_new_index(), "turnstile");
    if (made == nullptr) throw std::bad_alloc();
    BIO_meth_set_read(made, &read);
    BIO_meth_set_write(made, &write);
    BIO_meth_set_ctrl(made, &control);
    return made;
  }
  static BIO* make_for(Channel& channel) {
    static BIO_METHOD* const method = make();
    BIO* const bio = BIO_new(method);
    if (bio == nullptr) throw std::bad_alloc();
    BIO_set_data(bio, &channel);
    BIO_set_init(bio, 1);
    return bio;
  }
};

std::unique_ptr<Channel> Channel::make(SSL* ssl, int fd, std::int64_t slice_ms) {
  if (ssl == nullptr) throw std::bad_alloc();
  std::unique_ptr<Channel> made(new (std::nothrow) Channel(ssl, fd, slice_ms));
  if (made == nullptr) {
    SSL_free(ssl);
    throw std::bad_alloc();
  }
  made->take_calls();
  return made;
}

void Channel::take_calls() {
  BIO* const bio = ChannelCalls::make_for(*this);
  SSL_set_bio(ssl_, bio, bio);
  if ((SSL_get_options(ssl_) & SSL_OP_ENABLE_KTLS) != 0) let_kernel_encrypt();
}

Channel::~Channel() {
  SSL_free(ssl_);
  BIO_free(kernel_);
}

void Channel::let_kernel_encrypt() {
  BIO* const bio = ChannelCalls::make_for(*this);
  SSL_set0_wbio(ssl_, bio);
  kernel_ = BIO_new_socket(fd_, BIO_NOCLOSE);
  if (kernel_ == nullptr) throw std::bad_alloc();
  writer_ = bio;
}

// The end of the socket is not told to OpenSSL, for which it would be final: while the server
// drains, bytes may come behind it.
int Channel::read_raw(char* into, int size) {
  const int flags = std::exchange(may_block_, false) ? 0 : MSG_DONTWAIT;
  const auto room = static_cast<std::size_t>(size);
  const ssize_t got = base::retried([&] { return ::recv(fd_, into, room, flags); });
  is_drained_ = got < size;
  has_ended_ = got == 0;
  if (got == 0) errno = EAGAIN;
  if (got <= 0) return -1;
  if (is_established_ && (raw_received_ += got) > kMostRawBytes) {
    errno = EPROTO;
    return -1;
  }
  if (!std::exchange(has_begun_, true)) is_plain_ = *into >= 'A' && *into <= 'Z';
  if (!is_plain_) return static_cast<int>(got);
  errno = EPROTO;
  return -1;
}

// Not send() where the call may block: in the sandbox each sendto() costs a look at its flags. A
// record of which a part was sent is gone on with by the next call that sends.
int Channel::write_raw(const char* bytes, int size) {
  const auto count = static_cast<std::size_t>(size);
  const ssize_t sent = base::retried([&] {
    return may_block_ ? ::write(fd_, bytes, count)
                      : ::send(fd_, bytes, count, MSG_DONTWAIT | MSG_NOSIGNAL);
  });
  if (sent < size) may_block_ = false;
  if (sent > 0) raw_sent_ += sent;
  return static_cast<int>(sent);
}

// Makes one call of OpenSSL, in which the first system call may block.
template <typename Call>
ssize_t Channel::tried(bool may_block, Call call) {
  if (is_broken_) {
    errno = EPROTO;
    return -1;
  }
  has_ended_ = false;
  may_block_ = may_block;
  ERR_clear_error();
  errno = 0;
  const int done = call();
  return done > 0 ? done : failed(SSL_get_error(ssl_, done));
}

// Clears the errors, so that other connections of the thread do not find them.
ssize_t Channel::failed(int failure) {
  const int of_socket = errno;
  const unsigned long reason = ERR_peek_error();
  ERR_clear_error();
  if (failure == SSL_ERROR_ZERO_RETURN) return 0;
  if (failure == SSL_ERROR_WANT_READ && has_ended_) return 0;
  if (failure == SSL_ERROR_WANT_READ || failure == SSL_ERROR_WANT_WRITE) {
    wanted_ = failure == SSL_ERROR_WANT_READ ? POLLIN : POLLOUT;
    errno = EAGAIN;
  } else {
    is_broken_ = true;
    reason_ = reason;
    errno = failure == SSL_ERROR_SYSCALL && of_socket != 0 ? of_socket : EPROTO;
  }
  return -1;
}

// Whether it may be tried again, after EAGAIN. A thread with one connection has blocked already.
// Where there is room and a call fails again nevertheless, the system is short of memory, and no
// event follows.
bool Channel::waits(std::optional<base::Deadline>& deadline) const {
  if (base::my_waits == nullptr) return false;
  const bool is_first = !deadline;
  if (is_first)
    deadline = slice_ms_ > 0 ? base::Deadline::in_ms(slice_ms_) : base::Deadline::never();
  bool may_try = false;
  if (wanted_ == POLLOUT && net::wait_until_writable(fd_, base::Deadline::in_ms(0))) {
    if (!is_first) base::pause_ms(kTryAgainMs);
    may_try = !deadline->has_passed();
  } else {
    may_try = base::my_waits->wait_for(fd_, wanted_, deadline->at_ns());
  }
  errno = EAGAIN;
  return may_try;
}

// Returns 1 once the handshake is made. While another thread has computed, the socket may have told
// of room for more, which it does not tell again.
ssize_t Channel::shake_hands(bool may_block) {
  ssize_t done = -1;
  int failure = 0;
  const auto step = [&] {
    done = tried(may_block, [this] { return SSL_do_handshake(ssl_); });
    failure = errno;
  };
  base::may_block(step);
  if (base::my_waits != nullptr && failure == EAGAIN && wanted_ == POLLOUT) step();
  errno = failure;
  is_established_ = done > 0;
  is_in_kernel_ = is_established_ && kernel_ != nullptr && BIO_get_ktls_send(kernel_);
  return done;
}

ssize_t Channel::read(std::span<char> into, bool may_block) {
  const bool begins = !is_established_;
  if (begins) {
    if (const ssize_t done = shake_hands(may_block); done <= 0) return done;
  }
  const int room = static_cast<int>(std::min<std::size_t>(into.size(), INT32_MAX));
  const ssize_t got =
      tried(may_block && !begins, [&] { return SSL_read(ssl_, into.data(), room); });
  if (got > 0) raw_received_ = 0;
  return got;
}

ssize_t Channel::receive(std::span<char> into) {
  std::optional<base::Deadline> deadline;
  for (;;) {
    const bool begins = !is_established_;
    const ssize_t got = read(into, base::my_waits == nullptr);
    if (got >= 0 || errno != EAGAIN) return got;
    if ((begins && is_established_) || !waits(deadline)) return got;
  }
}

// Room in the socket is waited for even here: who waits for bytes is not told of it.
ssize_t Channel::receive_now(std::span<char> into) {
  constexpr int kMostMs = 100;
  std::optional<base::Deadline> deadline;
  for (;;) {
    const ssize_t got = read(into, false);
    if (got >= 0 || errno != EAGAIN || wanted_ != POLLOUT) return got;
    if (base::my_waits == nullptr) net::wait_until_writable(fd_, base::Deadline::in_ms(kMostMs));
    if (!waits(deadline)) {
      errno = EAGAIN;
      return got;
    }
  }
}

// Whether it may be tried again, after EAGAIN. However much a peer sends that is no answer, the
// time ends.
bool Channel::waits_by(base::Deadline deadline) const {
  if (deadline.has_passed()) return false;
  bool has_come = true;
  if (wanted_ != POLLOUT) {
    has_come = net::wait_until_readable(fd_, deadline);
  } else if (net::wait_until_writable(fd_, base::Deadline::in_ms(0))) {
    base::pause_ms(1);  // there is no memory, or there is room since
  } else {
    has_come = net::wait_until_writable(fd_, deadline);
  }
  errno = EAGAIN;
  return has_come;
}

base::Result<bool> Channel::try_to_shake_hands() {
  const ssize_t done = shake_hands(false);
  if (done > 0) return true;
  if (done == 0) return no_tls("the peer closed the connection");
  if (errno != EAGAIN) return no_tls(failure());
  return false;
}

base::Status Channel::shake_hands_by(base::Deadline deadline) {
  for (;;) {
    const auto made = try_to_shake_hands();
    if (!made) return made.error();
    if (*made) return base::kDone;
    if (!waits_by(deadline)) return no_tls("the handshake was not made in time");
  }
}

ssize_t Channel::receive_by(std::span<char> into, base::Deadline deadline) {
  for (;;) {
    const ssize_t got = read(into, false);
    if (got >= 0 || errno != EAGAIN || !waits_by(deadline)) return got;
  }
}

std::string Channel::failure() const {
  if (!is_broken_) return {};
  if (is_plain_) return "the peer does not speak TLS";
  const bool is_verified = (SSL_get_verify_mode(ssl_) & SSL_VERIFY_PEER) != 0;
  const long verdict = is_verified ? SSL_get_verify_result(ssl_) : X509_V_OK;
  if (verdict != X509_V_OK)
    return std::string("its certificate is not accepted: ") +
           X509_verify_cert_error_string(verdict);
  const char* const text = ERR_reason_error_string(reason_);
  return text == nullptr ? "the connection broke" : text;
}

bool Channel::has_pending() const { return SSL_has_pending(ssl_) == 1; }

bool Channel::has_peer_finished() {
  if (!is_established_ || is_broken_) return is_broken_;
  char next = 0;
  return tried(false, [&] { return SSL_peek(ssl_, &next, 1); }) == 0 && !has_ended_;
}

bool Channel::has_answer() {
  char next = 0;
  return tried(false, [&] { return SSL_peek(ssl_, &next, 1); }) >= 0 || errno != EAGAIN;
}

// Each record as soon as there is room for it; none that is to be sent after one that had none.
ssize_t Channel::write(std::span<const char> bytes, bool may_block) {
  if (!is_established_) {
    errno = EPROTO;
    return -1;
  }
  ssize_t all = 0;
  while (!bytes.empty()) {
    const auto record = bytes.first(std::min(bytes.size(), kRecordBytes));
    const ssize_t sent = tried(
        may_block, [&] { return SSL_write(ssl_, record.data(), static_cast<int>(record.size())); });
    if (sent <= 0) return all > 0 ? all : -1;
    all += sent;
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
  }
  return all;
}

// Calls send() until something was sent. It gathers the bytes again each time.
template <typename Send>
ssize_t Channel::waited(Send send) {
  std::optional<base::Deadline> deadline;
  for (;;) {
    const ssize_t sent = send();
    if (sent >= 0 || errno != EAGAIN || !waits(deadline)) return sent;
  }
}

// Once the kernel encrypts, the calls of net/socket_io.h do what they do in clear.
ssize_t Channel::noted(ssize_t sent) {
  if (sent > 0) raw_sent_ += sent;
  return sent;
}

ssize_t Channel::send(std::span<const char> head, std::span<const char> body) {
  if (is_in_kernel_) {
    std::array<iovec, 2> parts{part_of(head), part_of(body)};
    return noted(net::send_parts(fd_, parts));
  }
  return waited([&] { return send_some(head, body); });
}

ssize_t Channel::send(std::span<const char> head, const net::FilePart& body) {
  if (is_in_kernel_)
    return noted(head.empty() ? net::send_file(fd_, body) : net::send_first(fd_, head));
  return waited([&] { return send_some(head, body); });
}

// One record for a head and a short body.
ssize_t Channel::send_some(std::span<const char> head, std::span<const char> body) {
  if (head.empty() || body.empty()) return write(head.empty() ? body : head, true);
  const auto record = gathered().first(kRecordBytes);
  const std::size_t of_head = copy_first(head, record);
  const std::size_t of_body = copy_first(body, record.subspan(of_head));
  const auto size = static_cast<ssize_t>(of_head + of_body);
  const ssize_t sent = write(record.first(of_head + of_body), true);
  if (sent < size || of_head < head.size() || of_body == body.size()) return sent;
  return size + std::max<ssize_t>(write(body.subspan(of_body), true), 0);
}

ssize_t Channel::send_some(std::span<const char> head, net::FilePart left) {
  ssize_t all = 0;
  while (!head.empty() || left.size_bytes > 0) {
    const auto room = gathered().first(head.empty() ? kFileBytes : kRecordBytes);
    const std::size_t of_head = copy_first(head, room);
    const auto part = room.subspan(of_head, std::min(room.size() - of_head, left.size_bytes));
    const ssize_t got = part.empty() ? 0 : base::read_at(left.fd, part, left.offset);
    const std::size_t size = of_head + static_cast<std::size_t>(std::max<ssize_t>(got, 0));
    if (got < 0 || size == 0) return all > 0 ? all : got;
    const ssize_t sent = write(room.first(size), true);
    if (sent <= 0) return all > 0 ? all : sent;
    all += sent;
    if (static_cast<std::size_t>(sent) < size) return all;
    head = head.subspan(of_head);
    left.offset += got;
    left.size_bytes -= static_cast<std::size_t>(got);
  }
  return all;
}

std::shared_ptr<SSL_SESSION> Channel::session() const {
  if (!is_established_) return nullptr;
  SSL_SESSION* const session = SSL_get1_session(ssl_);
  if (session == nullptr) return nullptr;
  std::shared_ptr<SSL_SESSION> owned(session, &SSL_SESSION_free);
  return SSL_SESSION_is_resumable(session) == 1 ? owned : nullptr;
}

bool Channel::is_resumed() const { return SSL_session_reused(ssl_) == 1; }

void Channel::say_goodbye() {
  if (!is_established_ || is_broken_) return;
  if (is_in_kernel_ && !net::wait_until_writable(fd_, base::Deadline::in_ms(0))) return;
  tried(false, [this] { return SSL_shutdown(ssl_); });
}

}  // namespace tls
