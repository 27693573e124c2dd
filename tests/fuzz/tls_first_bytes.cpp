// Random bytes, in pieces of random size, as the first ones of a connection to a server of TLS.
// They never make a handshake, and a few thousand of them are answered with one flight at most.
// HTTP in clear is known by its first byte and gets no byte of TLS. However the bytes are cut, the
// connection ends alike.
#include <fcntl.h>
#include <sys/socket.h>

#include <algorithm>
#include <array>
#include <cerrno>
#include <memory>
#include <string>

#include "net/fd.h"
#include "tests/fuzz/require.h"
#include "tests/lib/tls/certificate.h"
#include "tests/temporary_folder.h"
#include "tls/server_context.h"

namespace {

using fuzz::require;

constexpr std::size_t kMostSentBytes = 4096;  // of a flight, with a small certificate

// For all inputs. Its files are only needed while it is opened.
tls::ServerContext& server() {
  static const auto made = [] {
    const tests::TemporaryFolder folder;
    return tls::ServerContext::open(tests::make_certificate(folder.path()));
  }();
  require(made.ok());
  return **made;
}

struct Met {
  bool is_plain = false;
  bool is_broken = false;
  std::string why;
  std::size_t sent_bytes = 0;  // by the server
};

std::size_t take_all(int fd) {
  std::array<char, 2 * kMostSentBytes> room;
  const ssize_t got = ::recv(fd, room.data(), room.size(), MSG_DONTWAIT);
  return got > 0 ? static_cast<std::size_t>(got) : 0;
}

Met met_by(std::string_view stream, std::size_t piece_bytes, tls::Spoken spoken) {
  int ends[2];
  require(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_NONBLOCK, 0, ends) == 0);
  const net::Fd client(ends[0]);
  const net::Fd ours(ends[1]);
  const auto channel = server().accept(ours.get(), spoken, 1);
  Met met;
  std::array<char, 64> nothing;
  while (!stream.empty() && !met.is_broken) {
    const auto piece = stream.substr(0, piece_bytes);
    require(::send(client.get(), piece.data(), piece.size(), 0) ==
            static_cast<ssize_t>(piece.size()));
    stream.remove_prefix(piece.size());
    require(channel->receive_now(nothing) <= 0);
    require(!channel->is_established());
    met.why = channel->failure();
    met.is_broken = !met.why.empty();
    require(!met.is_broken || channel->receive_now(nothing) < 0);
    met.sent_bytes += take_all(client.get());
  }
  channel->say_goodbye();
  met.sent_bytes += take_all(client.get());
  met.is_plain = channel->is_plain();
  return met;
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  if (size < 2) return 0;
  const std::string_view stream = fuzz::text_of(data + 1, size - 1);
  const auto spoken = (data[0] & 1) != 0 ? tls::Spoken::kHttp : tls::Spoken::kLines;
  const Met cut = met_by(stream, data[0] / 2 + std::size_t{1}, spoken);
  const Met whole = met_by(stream, stream.size(), spoken);
  require(whole.is_plain == (stream[0] >= 'A' && stream[0] <= 'Z'));
  require(!whole.is_plain || (whole.is_broken && whole.sent_bytes == 0));
  require(whole.sent_bytes <= kMostSentBytes && cut.sent_bytes <= kMostSentBytes);
  require(cut.is_plain == whole.is_plain && cut.is_broken == whole.is_broken);
  require(cut.why == whole.why);
  return 0;
}
