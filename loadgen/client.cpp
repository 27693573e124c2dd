#include "loadgen/client.h"

#include <cassert>
#include <cerrno>
#include <chrono>
#include <thread>

#include "net/connect.h"
#include "net/socket_io.h"

namespace loadgen {

using namespace std::chrono_literals;

Client::Client(const Config& config, const std::vector<net::SocketAddress>& servers,
               const Sources& sources, int thread)
    : config_(config),
      servers_(servers),
      sources_(sources),
      thread_(thread),
      is_kept_(config.connection == Connection::kKeepAlive),
      replies_(config.timeout_ms),
      reference_(config.verify_root),
      download_(config.save, thread) {}

void Client::prepare() {
  Exchange ignored;
  if (is_kept_) connect(ignored);
}

Exchange Client::carry_out(const Request& request) {
  assert(!is_under_way_);
  is_under_way_ = true;
  Exchange exchange;
  exchange.failure = begin(exchange);
  if (!exchange.failure) exchange.failure = converse(request, exchange);
  if (!exchange.failure && replies_.has_more()) exchange.failure = Fault::kProtocol;
  if (exchange.failure == Fault::kClosed) exchange.why = replies_.why_closed();

  // Comparing and saving take time of the thread. If the response time left it out, N = X*R would
  // not hold.
  const bool ends_now = exchange.failure || config_.must_verify || download_.is_wanted();
  exchange.ended_ns = ends_now ? base::now_ns() : replies_.last_byte_ns();
  exchange.received_bytes = replies_.file_bytes();
  const bool is_usable =
      !exchange.failure || (exchange.failure->leaves_connection_usable() && !replies_.has_more());
  if (!is_usable) hang_up();
  is_under_way_ = false;
  return exchange;
}

void Client::hang_up() { net::Fd closed = std::move(fd_); }

std::optional<Cause> Client::connect(Exchange& exchange) {
  const std::int64_t connection = connections_++;
  const auto turn = static_cast<std::uint64_t>(thread_) + static_cast<std::uint64_t>(connection);
  auto made = net::connect_to(servers_[turn % servers_.size()], config_.timeout_ms,
                              sources_.of(thread_, connection));
  if (!made) {
    exchange.why = made.error().context;
    if (base::now_ns() - exchange.started_ns < base::kNsPerMs) std::this_thread::sleep_for(1ms);
    return Fault::kConnect;
  }
  fd_ = std::move(*made);
  replies_.begin_connection(fd_.get());
  return {};
}

// With a connection for each request, the time includes closing the previous connection. If client
// and server are on one machine, the kernel wakes the server within that call, which takes a tenth
// of the time of a small request. Without it, that time would be in no response time, and N = X*R
// would not hold: at N = 1 with files of 1 KB, X*R/N was 0.89 to 0.92. With it, X*R/N is 0.997.
std::optional<Cause> Client::begin(Exchange& exchange) {
  exchange.started_ns = base::now_ns();
  if (is_kept_) {
    if (!fd_.is_open()) {
      if (const auto failure = connect(exchange)) return failure;
      exchange.started_ns = base::now_ns();
    }
    replies_.begin_request();
    return {};
  }
  replies_.begin_request();
  hang_up();
  const auto failure = connect(exchange);
  exchange.connected_ns = base::now_ns();
  const bool took_all_time =
      exchange.connected_ns - exchange.started_ns >= config_.timeout_ms * base::kNsPerMs;
  return failure && took_all_time ? Fault::kTimeout : failure;
}

std::optional<Cause> Client::converse(const Request& request, Exchange& exchange) {
  const auto failure = send(config_.is_pipelined ? request.both : request.opening);
  if (failure) return failure;
  return request.file_line.empty() ? make_account(exchange) : get_file(request, exchange);
}

std::optional<Cause> Client::make_account(Exchange& exchange) {
  const Answer answer = replies_.read_reply();
  exchange.first_byte_ns = answer.first_byte_ns;
  if (answer.failure) return answer.failure;
  if (!std::holds_alternative<wire::Ok>(answer.reply)) return Fault::kProtocol;
  return {};
}

std::optional<Cause> Client::get_file(const Request& request, Exchange& exchange) {
  const Answer granted = replies_.read_reply();
  if (granted.failure) return read_second_refusal(*granted.failure);
  if (!std::holds_alternative<wire::Ok>(granted.reply)) return Fault::kProtocol;
  if (!config_.is_pipelined) {
    if (const auto failure = send(request.file_line)) return failure;
  }
  return take_file(request, exchange);
}

std::optional<Cause> Client::take_file(const Request& request, Exchange& exchange) {
  const Answer answer = replies_.read_reply();
  exchange.first_byte_ns = answer.first_byte_ns;
  if (answer.failure) return answer.failure;
  const auto* const file = std::get_if<wire::OkSized>(&answer.reply);
  if (file == nullptr) return Fault::kProtocol;
  exchange.announced_bytes = file->size_bytes;
  if (!config_.must_verify && !download_.is_wanted()) return replies_.skip_file(file->size_bytes);

  download_.begin(request.file_name);
  if (config_.must_verify) reference_.begin(request.file_name);
  Reference* const reference = config_.must_verify ? &reference_ : nullptr;
  if (const auto failure = replies_.read_file(file->size_bytes, reference, &download_))
    return failure;
  download_.finish();
  if (config_.must_verify && !reference_.is_whole_and_equal()) return Fault::kMismatch;
  return {};
}

// With --pipeline the file name was sent together with the `get:` that was refused. The server
// refuses it too, and that reply must be read before the connection can be used again.
std::optional<Cause> Client::read_second_refusal(Cause first) {
  if (!config_.is_pipelined || !first.leaves_connection_usable()) return first;
  const Answer second = replies_.read_reply();
  if (!second.failure) return Fault::kProtocol;
  return second.failure->leaves_connection_usable() ? first : *second.failure;
}

// Only a time-out is a failure here. If the server has closed the connection, it may have sent the
// reason before, and the caller finds both by reading.
std::optional<Cause> Client::send(std::string_view lines) {
  if (net::send_all(fd_.get(), lines) || errno != EAGAIN) return {};
  return Fault::kTimeout;
}

}  // namespace loadgen
