#include "loadgen/clients/event_client.h"

#include <algorithm>
#include <cassert>
#include <cerrno>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/log.h"
#include "loadgen/clients/upload.h"
#include "net/connect.h"
#include "net/socket_io.h"

namespace loadgen {

namespace {

// A reply and a small file are received with one call. Of a larger file, no more than this is
// received before the rest can be thrown away.
constexpr std::size_t kReplyBytes = 16 * 1024;

// So many calls move bytes of one file before the other users have their turn.
constexpr int kMostCalls = 4;

// A user whose server does not let it connect yet asks at least so often.
constexpr std::int64_t kLongestRetryNs = 64 * base::kNsPerMs;

// Whether a connection that has ended with this errno was made before: a server may answer and
// reset it at once. Reading finds what it has said.
bool was_connected(int errno_value) { return errno_value == ECONNRESET || errno_value == EPIPE; }

std::string text_of(int errno_value) { return std::generic_category().message(errno_value); }

}  // namespace

EventClient::EventClient(ClientTools& tools, int user, std::uint32_t number)
    : tools_(tools),
      user_(user),
      number_(number),
      is_kept_(tools.config.connection == Connection::kKeepAlive),
      notes_transfers_(notes_transfers(tools.config)),
      driver_(make_driver(tools.config)),
      look_(tools.config.must_verify || !tools.config.save.empty()
                ? std::make_unique<Look>(tools.config, user)
                : nullptr) {}

EventClient::State EventClient::prepare() {
  if (!is_kept_) return State::kDone;
  request_ = nullptr;
  series_ = nullptr;
  retry_ns_ = base::kNsPerMs;
  exchange_ = {.started_ns = base::now_ns()};
  deadline_ns_ = exchange_.started_ns + tools_.config.timeout_ms * base::kNsPerMs;
  if (const auto state = connect()) return *state;
  return go_on();
}

EventClient::State EventClient::begin(const Request& request, bool counts) {
  assert(!is_under_way());
  request_ = &request;
  series_ = counts ? tools_.series : nullptr;
  retry_ns_ = base::kNsPerMs;
  exchange_ = {.started_ns = base::now_ns(), .kind = request.kind};
  deadline_ns_ = exchange_.started_ns + tools_.config.timeout_ms * base::kNsPerMs;
  is_usable_ = is_upload_cut_ = is_again_ = false;
  file_bytes_ = 0;
  first_byte_ns_ = first_received_ns_ = first_data_ns_ = 0;
  if (!is_kept_) hang_up();
  is_reused_ = fd_.is_open();
  const bool is_lost =
      is_reused_ && request.kind != RequestKind::kGet && !net::is_quiet_and_open(fd_.get());
  if (is_lost) is_again_ = true;
  if (is_reused_ && !is_lost) {
    driver_->begin(request);
    stage_ = Stage::kConversing;
  } else if (const auto state = connect()) {
    return *state;
  }
  return go_on();
}

EventClient::State EventClient::go_on() {
  for (;;) {
    if (const auto state = do_stage()) {
      if (*state != State::kDone) keep_pending();
      return *state;
    }
  }
}

EventClient::Pause EventClient::do_stage() {
  switch (stage_) {
    case Stage::kIdle: return State::kDone;
    case Stage::kConnecting: return finish_connecting();
    case Stage::kConversing: return converse();
    case Stage::kSending: return send();
    case Stage::kUploading: return upload(fd_.get());
    case Stage::kReceiving: return receive_file();
    case Stage::kSkipping: return skip();
    case Stage::kConnectingData: return finish_connecting_for_data();
    case Stage::kUploadingData: return upload_data();
    case Stage::kReceivingData: return receive_data();
    case Stage::kRetrying: return is_pause_over() ? connect() : Pause(State::kPauses);
    case Stage::kFailing: return is_pause_over() ? finish() : Pause(State::kPauses);
  }
  return State::kDone;
}

bool EventClient::is_pause_over() const { return base::now_ns() >= resumes_ns_; }

void EventClient::run_out_of_time() {
  if (go_on() == State::kDone) return;
  is_reused_ = false;  // there is no time to send it again
  fail(Fault::kTimeout);
}

// The thread has one buffer, which the next client uses.
void EventClient::keep_pending() {
  if (pending_.empty()) return kept_.clear();
  const bool is_kept =
      pending_.data() >= kept_.data() && pending_.data() < kept_.data() + kept_.size();
  if (!is_kept) {
    kept_.assign(pending_);
  } else {
    kept_.erase(0, static_cast<std::size_t>(pending_.data() - kept_.data()));
  }
  pending_ = kept_;
}

void EventClient::hang_up() {
  close_data();
  pending_ = {};
  kept_.clear();
  if (!fd_.is_open()) return;
  tools_.engine->forget(number_);
  const net::Fd closed = std::move(fd_);
}

void EventClient::close_data() {
  if (!data_fd_.is_open()) return;
  tools_.engine->forget(number_ + tools_.users);
  const net::Fd closed = std::move(data_fd_);
}

void EventClient::watch(std::uint32_t number, const net::Fd& fd) {
  const auto watched = tools_.engine->watch_changes(number, fd.get());
  if (!watched && !tools_.failure) tools_.failure = watched.error().context;
}

EventClient::Pause EventClient::connect() {
  hang_up();
  const std::int64_t connection = connections_++;
  const auto turn = static_cast<std::uint64_t>(user_) + static_cast<std::uint64_t>(connection);
  server_ = &tools_.servers[turn % tools_.servers.size()];
  source_ = tools_.sources.of(user_, connection);
  is_reused_ = false;
  auto made = net::begin_to_connect(*server_, source_, 0);
  if (!made && made.error().code == base::ErrorCode::kBusy) return retry();
  if (!made) return fail_to_connect(made.error().context);
  fd_ = std::move(*made);
  is_ready_ = false;
  stage_ = Stage::kConnecting;
  watch(number_, fd_);
  return tools_.failure ? fail_to_connect(*tools_.failure) : std::nullopt;
}

// Many users retry together, so each asks less and less often.
EventClient::Pause EventClient::retry() {
  const std::int64_t pause_ns = retry_ns_;
  retry_ns_ = std::min(2 * retry_ns_, kLongestRetryNs);
  return pause(Stage::kRetrying, pause_ns);
}

// See Client::carry_out() for the millisecond that a failure takes at least.
EventClient::Pause EventClient::fail_to_connect(const std::string& why) {
  const std::int64_t now_ns = base::now_ns();
  exchange_.failure = now_ns >= deadline_ns_ ? Cause(Fault::kTimeout) : Cause(Fault::kConnect);
  exchange_.why = why;
  if (!is_kept_) exchange_.connected_ns = now_ns;
  if (now_ns - exchange_.started_ns >= base::kNsPerMs) return finish();
  return pause(Stage::kFailing, base::kNsPerMs);
}

EventClient::Pause EventClient::pause(Stage stage, std::int64_t pause_ns) {
  resumes_ns_ = base::now_ns() + pause_ns;
  stage_ = stage;
  return State::kPauses;
}

// A server that says something at once, or closes, may have done so before the engine has reported
// the connection. So there may be bytes already.
EventClient::Pause EventClient::finish_connecting() {
  if (!is_ready_) return State::kWaits;
  const int failure = net::outcome_of_connect(fd_.get());
  if (failure != 0 && !was_connected(failure))
    return fail_to_connect("connect to " + server_->text() + ": " + text_of(failure));
  ++made_;
  if (is_again_) ++reconnects_;
  if (!is_kept_) exchange_.connected_ns = base::now_ns();
  driver_->begin_connection();
  if (request_ == nullptr) {
    stage_ = Stage::kIdle;
    return State::kDone;
  }
  driver_->begin(*request_);
  stage_ = Stage::kConversing;
  return {};
}

EventClient::Pause EventClient::converse() {
  const Step step = driver_->next(pending_);
  if (step.taken_bytes > 0) note_reply(take(step.taken_bytes));
  if (step.is_logged_in) exchange_.logged_in_ns = last_byte_ns_;
  return step.kind == Step::Kind::kDone ? conclude(step) : follow(step);
}

std::int64_t EventClient::take(std::size_t count) {
  pending_.remove_prefix(count);
  return std::exchange(first_byte_ns_, pending_.empty() ? 0 : last_byte_ns_);
}

// See Client::note_reply().
void EventClient::note_reply(std::int64_t first_byte_ns) {
  const std::int64_t sent_ns = exchange_.data_ended_ns;
  if (sent_ns != 0 && exchange_.first_byte_ns >= sent_ns) return;
  exchange_.first_byte_ns = first_byte_ns;
  exchange_.file_end_ns = last_byte_ns_;
}

EventClient::Pause EventClient::follow(const Step& step) {
  left_bytes_ = step.size_bytes;
  switch (step.kind) {
    case Step::Kind::kSend:
      if (step.asks_for_file && notes_transfers_ && exchange_.asked_ns == 0)
        exchange_.asked_ns = base::now_ns();
      unsent_ = step.bytes;
      unsent_file_bytes_ = step.file_bytes;
      stage_ = Stage::kSending;
      break;
    case Step::Kind::kReceive: return receive_more();
    case Step::Kind::kUpload: stage_ = Stage::kUploading; break;
    case Step::Kind::kOpenData: return connect_for_data(step.data_port);
    case Step::Kind::kData:
      keep_pending();  // the bytes of the file come into the same buffer
      data_size_bytes_ = step.size_bytes;
      begin_file(std::min(step.size_bytes, UINT64_MAX - 2) + 1);  // so that one more is noticed
      stage_ = Stage::kReceivingData;
      break;
    case Step::Kind::kSendData: stage_ = Stage::kUploadingData; break;
    case Step::Kind::kSkip: stage_ = Stage::kSkipping; break;
    case Step::Kind::kFile:
      exchange_.announced_bytes = step.size_bytes;
      begin_file(step.size_bytes);
      stage_ = Stage::kReceiving;
      break;
    case Step::Kind::kDone: break;
  }
  return {};
}

// If the server has closed the connection, it may have sent the reason before. Reading finds both.
EventClient::Pause EventClient::send() {
  while (!unsent_.empty()) {
    const ssize_t sent = net::send_now(fd_.get(), unsent_);
    if (sent < 0 && errno == EAGAIN) return State::kWaits;
    if (sent < 0) {
      is_ready_ = true;
      unsent_file_bytes_ = 0;
      break;
    }
    unsent_.remove_prefix(static_cast<std::size_t>(sent));
  }
  tell(unsent_file_bytes_);
  stage_ = Stage::kConversing;
  return {};
}

// As in send(): the reason why the server takes no more is found by reading.
EventClient::Pause EventClient::upload(int fd) {
  for (int call = 0; left_bytes_ > 0; ++call) {
    if (call == kMostCalls) return State::kMore;
    const ssize_t sent = net::send_now(fd, upload_bytes().substr(0, left_bytes_));
    if (sent >= 0) {
      left_bytes_ -= static_cast<std::uint64_t>(sent);
      tell(static_cast<std::uint64_t>(sent));
    } else if (errno == EAGAIN && net::is_quiet_and_open(fd)) {
      return State::kWaits;
    } else {
      is_upload_cut_ = is_ready_ = true;
      break;
    }
  }
  stage_ = Stage::kConversing;
  return {};
}

// A server that takes no more says why on the other connection.
EventClient::Pause EventClient::upload_data() {
  if (const auto state = upload(data_fd_.get())) return state;
  close_data();
  exchange_.data_ended_ns = base::now_ns();
  return {};
}

EventClient::Pause EventClient::receive_more() {
  if (!is_ready_) return State::kWaits;
  keep_pending();
  const std::size_t before = kept_.size();
  ssize_t got = 0;
  if (pending_.empty()) {
    got = net::receive_now(fd_.get(), tools_.buffer.first(kReplyBytes));
  } else {
    kept_.resize(before + kReplyBytes);
    got = net::receive_now(fd_.get(), std::span(kept_).subspan(before));
    kept_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    pending_ = kept_;
  }
  if (got <= 0) return closed(got);
  if (before == 0) pending_ = {tools_.buffer.data(), static_cast<std::size_t>(got)};
  was_short_ = static_cast<std::size_t>(got) < kReplyBytes;
  note_received();
  if (first_byte_ns_ == 0) first_byte_ns_ = last_byte_ns_;
  return {};
}

// What a call that receives has returned instead of bytes.
EventClient::Pause EventClient::closed(ssize_t got) {
  if (got < 0 && errno == EAGAIN) {
    is_ready_ = false;
    return State::kWaits;
  }
  return fail(Fault::kClosed, got == 0 ? "the server closed the connection" : text_of(errno));
}

void EventClient::note_received() {
  last_byte_ns_ = base::now_ns();
  if (first_received_ns_ == 0) first_received_ns_ = last_byte_ns_;
}

// One byte more than the file has left is asked for, so that bytes that nobody asked for are
// noticed without a further call. Who looks at the file gets them as the next reply.
ssize_t EventClient::receive_file_piece() {
  const std::span<char> into = room_for(left_bytes_ + 1);
  const ssize_t got = look_ ? net::receive_now(fd_.get(), into) : net::discard(fd_.get(), into);
  was_short_ = static_cast<std::size_t>(std::max<ssize_t>(got, 0)) < into.size();
  return got;
}

std::span<char> EventClient::room_for(std::uint64_t bytes) const {
  return tools_.buffer.first(std::min<std::uint64_t>(bytes, tools_.buffer.size()));
}

void EventClient::begin_file(std::uint64_t size_bytes) {
  left_bytes_ = size_bytes;
  if (!look_) return;
  look_->download.begin(request_->file_name);
  if (tools_.config.must_verify) look_->reference.begin(request_->file_name);
}

void EventClient::take_piece(std::string_view piece) {
  left_bytes_ -= piece.size();
  file_bytes_ += piece.size();
  tell(piece.size());
  if (!look_) return;
  if (tools_.config.must_verify) look_->reference.compare(piece);
  look_->download.keep(piece);
}

EventClient::Pause EventClient::receive_file() {
  const std::string_view here = pending_.substr(0, left_bytes_);
  pending_.remove_prefix(here.size());
  take_piece(here);
  for (int call = 0; left_bytes_ > 0; ++call) {
    if (call == kMostCalls) return State::kMore;
    if (!is_ready_) return State::kWaits;
    const ssize_t got = receive_file_piece();
    if (got <= 0) return closed(got);
    note_received();
    const std::string_view bytes(tools_.buffer.data(), static_cast<std::size_t>(got));
    const std::string_view more = bytes.substr(std::min<std::uint64_t>(left_bytes_, bytes.size()));
    take_piece(bytes.substr(0, bytes.size() - more.size()));
    pending_ = more;
    if (!more.empty() && !look_) return fail(Fault::kProtocol);
  }
  stage_ = Stage::kConversing;
  return {};
}

// A file that ends with its connection.
EventClient::Pause EventClient::receive_data() {
  for (int call = 0; left_bytes_ > 0; ++call) {
    if (call == kMostCalls) return State::kMore;
    if (!is_data_ready_) return State::kWaits;
    const std::span<char> into = room_for(left_bytes_);
    const int fd = data_fd_.get();
    const ssize_t got = look_ ? net::receive_now(fd, into) : net::discard(fd, into);
    if (got < 0 && errno == EAGAIN) {
      is_data_ready_ = false;
      return State::kWaits;
    }
    if (got < 0) exchange_.why = text_of(errno);
    if (got <= 0)
      return end_of_data(got == 0 ? std::nullopt : std::optional<Cause>(Fault::kClosed));
    last_byte_ns_ = base::now_ns();
    if (first_data_ns_ == 0) first_data_ns_ = last_byte_ns_;
    take_piece({tools_.buffer.data(), static_cast<std::size_t>(got)});
  }
  exchange_.why = "more bytes came than announced";
  return end_of_data(Fault::kProtocol);
}

EventClient::Pause EventClient::end_of_data(std::optional<Cause> failure) {
  exchange_.data_ended_ns = base::now_ns();
  close_data();
  const bool is_size_known = data_size_bytes_ != Step::kUnknownSize;
  exchange_.announced_bytes = is_size_known ? data_size_bytes_ : file_bytes_;
  if (failure) return fail(*failure, exchange_.why);
  stage_ = Stage::kConversing;
  return {};
}

EventClient::Pause EventClient::skip() {
  const std::size_t here = std::min<std::uint64_t>(left_bytes_, pending_.size());
  pending_.remove_prefix(here);
  left_bytes_ -= here;
  for (int call = 0; left_bytes_ > 0; ++call) {
    if (call == kMostCalls) return State::kMore;
    if (!is_ready_) return State::kWaits;
    const std::span<char> into = room_for(left_bytes_ + 1);
    const ssize_t got = net::discard(fd_.get(), into);
    if (got <= 0) return closed(got);
    note_received();
    was_short_ = static_cast<std::size_t>(got) < into.size();
    if (static_cast<std::uint64_t>(got) > left_bytes_) return fail(Fault::kProtocol);
    left_bytes_ -= static_cast<std::uint64_t>(got);
  }
  stage_ = Stage::kConversing;
  return {};
}

// Some servers refuse a connection from an address other than that of the log-in.
EventClient::Pause EventClient::connect_for_data(std::uint16_t port) {
  auto made = net::begin_to_connect(server_->with_port(port), source_, 0);
  if (!made) return fail(Fault::kConnect, made.error().context);
  data_fd_ = std::move(*made);
  is_data_ready_ = false;
  stage_ = Stage::kConnectingData;
  watch(number_ + tools_.users, data_fd_);
  return {};
}

EventClient::Pause EventClient::finish_connecting_for_data() {
  if (!is_data_ready_) return State::kWaits;
  const int failure = net::outcome_of_connect(data_fd_.get());
  if (failure != 0 && !was_connected(failure)) return fail(Fault::kConnect, text_of(failure));
  exchange_.data_connected_ns = base::now_ns();
  stage_ = Stage::kConversing;
  return {};
}

// As Client::conclude().
EventClient::Pause EventClient::conclude(const Step& end) {
  is_usable_ = end.keeps_connection && !is_upload_cut_;
  if (end.failure) {
    if (!end.why.empty()) exchange_.why = base::log::quoted(end.why);
    return fail(*end.failure, exchange_.why);
  }
  if (is_upload_cut_)
    return fail(Fault::kProtocol, "the server answered before it had the whole file");
  const bool has_data = tools_.config.protocol == Protocol::kFtp;
  if (has_data && request_->kind == RequestKind::kGet) {
    exchange_.first_byte_ns = first_data_ns_ == 0 ? exchange_.data_ended_ns : first_data_ns_;
    if (file_bytes_ != exchange_.announced_bytes)
      return fail(Fault::kProtocol, "fewer bytes came than announced");
  }
  if (request_->kind == RequestKind::kPut)
    exchange_.announced_bytes = exchange_.moved_bytes = request_->size_bytes;
  if (const auto failure = check_file()) return fail(*failure);
  if (!pending_.empty()) return fail(Fault::kProtocol, "more bytes than announced");
  return finish();
}

// Requires: the file is complete.
std::optional<Cause> EventClient::check_file() {
  if (!looks_at_file()) return {};
  look_->download.finish();
  if (tools_.config.must_verify && !look_->reference.is_whole_and_equal()) return Fault::kMismatch;
  return {};
}

bool EventClient::looks_at_file() const {
  return look_ != nullptr && request_ != nullptr && request_->kind == RequestKind::kGet;
}

bool EventClient::can_be_repeated() const {
  return exchange_.failure == Fault::kClosed && is_reused_ && exchange_.kind == RequestKind::kGet &&
         first_received_ns_ == 0;
}

EventClient::Pause EventClient::fail(Cause cause, std::string why) {
  exchange_.failure = cause;
  exchange_.why = std::move(why);
  if (!can_be_repeated()) return finish();
  exchange_.failure.reset();
  exchange_.why.clear();
  is_again_ = true;
  return connect();
}

EventClient::Pause EventClient::finish() {
  const bool ends_now = exchange_.failure || looks_at_file();
  exchange_.ended_ns = ends_now ? base::now_ns() : std::max(last_byte_ns_, exchange_.data_ended_ns);
  if (exchange_.kind == RequestKind::kGet) exchange_.moved_bytes = file_bytes_;
  if (exchange_.failure || !notes_transfers_) {
    exchange_.file_end_ns = 0;
  } else if (tools_.config.protocol != Protocol::kFtp) {
    exchange_.file_end_ns = last_byte_ns_;
  } else if (exchange_.kind == RequestKind::kGet) {
    exchange_.file_end_ns = exchange_.data_ended_ns;
  }
  close_data();
  if (!is_usable_ || !pending_.empty()) hang_up();
  // Nothing is left, and what comes next is reported; but the end may have come with the bytes.
  if (was_short_ && !tools_.engine->has_ended(number_)) is_ready_ = false;
  unsent_ = {};
  stage_ = Stage::kIdle;
  return State::kDone;
}

void EventClient::tell(std::uint64_t moved_bytes) const {
  if (series_ != nullptr && moved_bytes > 0) series_->move(moved_bytes);
}

std::optional<std::string> EventClient::save_failure() const {
  return look_ ? look_->download.failure() : std::nullopt;
}

}  // namespace loadgen
