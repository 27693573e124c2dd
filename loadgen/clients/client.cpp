#include "loadgen/clients/client.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <chrono>
#include <thread>
#include <utility>

#include "base/log.h"
#include "loadgen/clients/upload.h"
#include "net/connect.h"

namespace loadgen {

using namespace std::chrono_literals;

Client::Client(const Config& config, const std::vector<net::SocketAddress>& servers,
               const Sources& sources, int thread, ThreadSeries* series, tls::ClientContext* tls)
    : config_(config),
      servers_(servers),
      sources_(sources),
      series_(series),
      tls_(tls),
      thread_(thread),
      is_kept_(config.connection == Connection::kKeepAlive),
      driver_(make_driver(config)),
      replies_(config.timeout_ms, series),
      reference_(config.verify_root),
      download_(config.save, thread),
      looks_at_files_(config.must_verify || download_.is_wanted()),
      notes_transfers_(notes_transfers(config)) {
  if (config.protocol == Protocol::kFtp) data_.emplace(config.timeout_ms, series);
  if (tls_ != nullptr) handshakes_.emplace();
}

void Client::prepare() {
  Exchange ignored;
  replies_.begin_request();
  if (is_kept_) connect(ignored);
}

Exchange Client::carry_out(const Request& request, Gate* gate) {
  assert(!is_under_way_);
  is_under_way_ = true;
  gate_ = gate;
  is_usable_ = is_upload_cut_ = false;
  Exchange exchange{.kind = request.kind};
  const std::int64_t cpu_before_ns = notes_transfers_ ? base::thread_cpu_ns() : 0;
  exchange.failure = begin(exchange);
  if (!exchange.failure) exchange.failure = converse(request, exchange);
  if (can_be_repeated(exchange)) {
    exchange.failure = reconnect(exchange);
    if (!exchange.failure) exchange.failure = converse(request, exchange);
  }
  if (!exchange.failure && replies_.has_more()) {
    exchange.failure = Fault::kProtocol;
    exchange.why = "more bytes than announced";
  }
  if (exchange.failure == Fault::kClosed && exchange.why.empty())
    exchange.why = replies_.why_closed();

  // Comparing and saving take time of the thread. If the response time left it out, N = X*R would
  // not hold.
  const bool ends_now = exchange.failure || looks_at_file(request);
  exchange.ended_ns =
      ends_now ? base::now_ns() : std::max(replies_.last_byte_ns(), exchange.data_ended_ns);
  if (request.kind == RequestKind::kGet)
    exchange.moved_bytes = data_ ? data_->file_bytes() : replies_.file_bytes();
  if (exchange.failure || !notes_transfers_) {
    exchange.file_end_ns = 0;
  } else if (!data_) {
    exchange.file_end_ns = replies_.last_byte_ns();
  } else if (request.kind == RequestKind::kGet) {
    exchange.file_end_ns = exchange.data_ended_ns;
  }
  data_socket_ = {};
  if (!is_usable_ || replies_.has_more()) hang_up();
  if (notes_transfers_) exchange.cpu_ns = base::thread_cpu_ns() - cpu_before_ns;
  is_under_way_ = false;
  return exchange;
}

bool Client::looks_at_file(const Request& request) const {
  return looks_at_files_ && request.kind == RequestKind::kGet;
}

void Client::hang_up() {
  if (config_.resumes && socket_.channel() != nullptr) {
    if (auto session = socket_.channel()->session()) session_ = std::move(session);
  }
  const tls::Socket closed = std::move(socket_);
}

void Client::begin_streams() {
  replies_.begin_request();
  if (data_) data_->begin_request();
}

std::optional<Cause> Client::connect(Exchange& exchange) {
  const std::int64_t connection = connections_++;
  const auto turn = static_cast<std::uint64_t>(thread_) + static_cast<std::uint64_t>(connection);
  server_ = &servers_[turn % servers_.size()];
  source_ = sources_.of(thread_, connection);
  is_reused_ = false;
  auto made = net::connect_to(*server_, config_.timeout_ms, source_,
                              std::max(replies_.deadline().left_ms(), 1));
  if (!made) return fail_to_connect(made.error().context, exchange);
  if (tls_ != nullptr) {
    if (const auto failure = encrypt(std::move(*made), exchange)) return failure;
  } else {
    socket_ = std::move(*made);
  }
  ++made_;
  replies_.begin_connection(socket_.get(), socket_.channel() != nullptr ? &socket_ : nullptr);
  driver_->begin_connection();
  return {};
}

std::optional<Cause> Client::encrypt(net::Fd fd, Exchange& exchange) {
  const std::int64_t begun_ns = base::now_ns();
  auto encrypted = tls_->encrypt(std::move(fd), config_.server.host, config_.timeout_ms,
                                 replies_.deadline(), session_.get());
  if (!encrypted) return fail_to_connect(encrypted.error().context, exchange);
  socket_ = std::move(*encrypted);
  handshakes_->add(base::now_ns() - begun_ns, socket_.channel()->is_resumed());
  return {};
}

std::optional<Cause> Client::fail_to_connect(const std::string& why, Exchange& exchange) {
  exchange.why = why;
  if (base::now_ns() - exchange.started_ns < base::kNsPerMs) std::this_thread::sleep_for(1ms);
  return replies_.deadline().has_passed() ? Cause(Fault::kTimeout) : Cause(Fault::kConnect);
}

// With a connection for each request, the time includes closing the previous connection. If client
// and server are on one machine, the kernel wakes the server within that call, which takes a tenth
// of the time of a small request. Without it, that time would be in no response time, and N = X*R
// would not hold: at N = 1 with files of 1 KB, X*R/N was 0.89 to 0.92. With it, X*R/N is 0.997.
std::optional<Cause> Client::begin(Exchange& exchange) {
  exchange.started_ns = base::now_ns();
  begin_streams();
  if (!is_kept_) {
    hang_up();
    const auto failure = connect(exchange);
    exchange.connected_ns = base::now_ns();
    return failure;
  }
  is_reused_ = socket_.is_open();
  if (!is_reused_) return connect(exchange);
  if (exchange.kind != RequestKind::kGet && !may_send_on_kept()) return reconnect(exchange);
  return {};
}

// What lies in a socket of TLS may be a ticket for the next connection. Only receiving tells.
bool Client::may_send_on_kept() {
  if (socket_.channel() == nullptr) return socket_.is_quiet_and_open();
  char byte = 0;
  return socket_.receive_now({&byte, 1}) < 0 && errno == EAGAIN;
}

// The time of the request goes on.
std::optional<Cause> Client::reconnect(Exchange& exchange) {
  hang_up();
  const auto failure = connect(exchange);
  if (!failure) ++reconnects_;
  return failure;
}

bool Client::can_be_repeated(const Exchange& exchange) const {
  return exchange.failure == Fault::kClosed && is_reused_ && exchange.kind == RequestKind::kGet &&
         replies_.first_received_ns() == 0;
}

std::optional<Cause> Client::converse(const Request& request, Exchange& exchange) {
  driver_->begin(request);
  for (;;) {
    const Step step = driver_->next(replies_.pending());
    if (step.taken_bytes > 0) note_reply(replies_.take(step.taken_bytes), exchange);
    if (step.is_logged_in) exchange.logged_in_ns = replies_.last_byte_ns();
    if (step.kind == Step::Kind::kDone) {
      return conclude(step, request, exchange);
    }
    if (const auto failure = follow(step, request, exchange)) return failure;
  }
}

// Of a file that is sent on a connection of its own, the reply behind it counts. That to QUIT comes
// later.
void Client::note_reply(std::int64_t first_byte_ns, Exchange& exchange) const {
  const std::int64_t sent_ns = exchange.data_ended_ns;
  if (sent_ns != 0 && exchange.first_byte_ns >= sent_ns) return;
  exchange.first_byte_ns = first_byte_ns;
  exchange.file_end_ns = replies_.last_byte_ns();
}

std::optional<Cause> Client::follow(const Step& step, const Request& request, Exchange& exchange) {
  switch (step.kind) {
    case Step::Kind::kSend:
      return step.asks_for_file && notes_transfers_ ? ask(step, exchange) : send(step, exchange);
    case Step::Kind::kReceive: return replies_.receive_more();
    case Step::Kind::kUpload: return upload(step.size_bytes, exchange);
    case Step::Kind::kOpenData: return open_data(step.data_port, exchange);
    case Step::Kind::kData: return take_data(step.size_bytes, request, exchange);
    case Step::Kind::kSendData: return send_data(step.size_bytes, exchange);
    case Step::Kind::kSkip: return replies_.skip_other(step.size_bytes);
    case Step::Kind::kFile:
      exchange.announced_bytes = step.size_bytes;
      return take_file(step.size_bytes, request);
    case Step::Kind::kDone: break;
  }
  return {};
}

std::optional<Cause> Client::take_file(std::uint64_t size_bytes, const Request& request) {
  if (!looks_at_files_) return replies_.skip_file(size_bytes);
  download_.begin(request.file_name);
  if (config_.must_verify) reference_.begin(request.file_name);
  return replies_.read_file(size_bytes, config_.must_verify ? &reference_ : nullptr, &download_);
}

std::optional<Cause> Client::conclude(const Step& end, const Request& request, Exchange& exchange) {
  is_usable_ = end.keeps_connection && !is_upload_cut_;
  if (end.failure) {
    if (!end.why.empty()) exchange.why = base::log::quoted(end.why);
    return end.failure;
  }
  if (is_upload_cut_) {
    exchange.why = "the server answered before it had the whole file";
    return Fault::kProtocol;
  }
  if (data_ && request.kind == RequestKind::kGet) {
    const std::int64_t first_ns = data_->first_received_ns();
    exchange.first_byte_ns = first_ns == 0 ? exchange.data_ended_ns : first_ns;
    if (data_->file_bytes() != exchange.announced_bytes) {
      exchange.why = "fewer bytes came than announced";
      return Fault::kProtocol;
    }
  }
  if (request.kind == RequestKind::kPut)
    exchange.announced_bytes = exchange.moved_bytes = request.size_bytes;
  return check_file(request);
}

// Some servers refuse a connection from an address other than that of the log-in.
std::optional<Cause> Client::open_data(std::uint16_t port, Exchange& exchange) {
  auto made = net::connect_to(server_->with_port(port), config_.timeout_ms, source_,
                              std::max(replies_.deadline().left_ms(), 1));
  if (!made) {
    exchange.why = made.error().context;
    return replies_.deadline().has_passed() ? Cause(Fault::kTimeout) : Cause(Fault::kConnect);
  }
  data_socket_ = std::move(*made);
  data_->begin_connection(data_socket_.get());
  exchange.data_connected_ns = base::now_ns();
  return {};
}

// A server that cannot send the whole file says so on the other connection.
std::optional<Cause> Client::take_data(std::uint64_t size_bytes, const Request& request,
                                       Exchange& exchange) {
  std::optional<Cause> failure;
  if (looks_at_files_) {
    download_.begin(request.file_name);
    if (config_.must_verify) reference_.begin(request.file_name);
    failure =
        data_->read_to_end(size_bytes, config_.must_verify ? &reference_ : nullptr, &download_);
  } else {
    failure = data_->skip_to_end(size_bytes);
  }
  exchange.data_ended_ns = base::now_ns();
  data_socket_ = {};
  if (failure == Fault::kClosed) exchange.why = data_->why_closed();
  if (failure == Fault::kProtocol) exchange.why = "more bytes came than announced";
  const bool is_size_known = size_bytes != Step::kUnknownSize;
  exchange.announced_bytes = is_size_known ? size_bytes : data_->file_bytes();
  return failure;
}

// Requires: the file is complete.
std::optional<Cause> Client::check_file(const Request& request) {
  if (!looks_at_file(request)) return {};
  download_.finish();
  if (config_.must_verify && !reference_.is_whole_and_equal()) return Fault::kMismatch;
  return {};
}

// As with send(), the reason why the server takes no more is found by reading.
std::optional<Cause> Client::upload(std::uint64_t size_bytes, Exchange& exchange) {
  const UploadEnd end = send_upload(socket_, size_bytes, replies_.deadline(), series_);
  note_sent(end == UploadEnd::kWhole, exchange);
  is_upload_cut_ = end == UploadEnd::kCut;
  return end == UploadEnd::kTimeout ? std::optional<Cause>(Fault::kTimeout) : std::nullopt;
}

// A server that takes no more says why on the other connection.
std::optional<Cause> Client::send_data(std::uint64_t size_bytes, Exchange& exchange) {
  const UploadEnd end = send_upload(data_socket_, size_bytes, replies_.deadline(), series_);
  note_sent(end == UploadEnd::kWhole, exchange);
  data_socket_ = {};
  exchange.data_ended_ns = base::now_ns();
  is_upload_cut_ = end == UploadEnd::kCut;
  return end == UploadEnd::kTimeout ? std::optional<Cause>(Fault::kTimeout) : std::nullopt;
}

// A small file goes with its head. Of a larger one, what goes behind the head is noted later.
void Client::note_sent(bool is_whole, Exchange& exchange) const {
  if (notes_transfers_) exchange.sent_ns = is_whole ? base::now_ns() : 0;
}

std::optional<Cause> Client::ask(const Step& step, Exchange& exchange) {
  if (gate_ != nullptr) {
    gate_->wait();
    replies_.begin_time();
    if (data_) data_->begin_time();
  }
  if (exchange.asked_ns == 0) exchange.asked_ns = base::now_ns();
  const auto failure = send(step, exchange);
  if (Gate* const gate = std::exchange(gate_, nullptr)) {
    exchange.asked_ns = gate->leave(exchange.asked_ns);
  }
  return failure;
}

// Only a time-out is a failure here. If the server has closed the connection, it may have sent the
// reason before, and the caller finds both by reading.
std::optional<Cause> Client::send(const Step& step, Exchange& exchange) {
  if (socket_.send_all(step.bytes)) {
    if (series_ != nullptr && step.file_bytes > 0) series_->move(step.file_bytes);
    if (step.file_bytes > 0) note_sent(true, exchange);
    return {};
  }
  return errno == EAGAIN ? std::optional<Cause>(Fault::kTimeout) : std::nullopt;
}

}  // namespace loadgen
