// How an EventClient sends and receives bytes.
#include <algorithm>
#include <cerrno>

#include "base/clock.h"
#include "loadgen/clients/event_client.h"
#include "loadgen/clients/reply_stream.h"
#include "loadgen/clients/upload.h"
#include "net/socket_io.h"

namespace loadgen {

namespace {

// So many calls move bytes of one file before the other users have their turn.
constexpr int kMostCalls = 4;

}  // namespace

// If the server has closed the connection, it may have sent the reason before. Reading finds both.
EventClient::Pause EventClient::send() {
  while (!unsent_.empty()) {
    const ssize_t sent = socket_.send_now(unsent_);
    if (sent < 0 && errno == EAGAIN) return State::kWaits;
    if (sent < 0) {
      is_ready_ = true;
      unsent_file_bytes_ = 0;
      break;
    }
    unsent_.remove_prefix(static_cast<std::size_t>(sent));
  }
  tell(unsent_file_bytes_);
  const bool is_whole_file = unsent_file_bytes_ > 0 && unsent_file_bytes_ == request_->size_bytes;
  if (is_whole_file) note_sent();
  stage_ = Stage::kConversing;
  return {};
}

// As in send(): the reason why the server takes no more is found by reading.
EventClient::Pause EventClient::upload(tls::Socket& socket) {
  for (int call = 0; left_bytes_ > 0; ++call) {
    if (call == kMostCalls) return State::kMore;
    const ssize_t sent = socket.send_now(upload_bytes().substr(0, left_bytes_));
    if (sent >= 0) {
      left_bytes_ -= static_cast<std::uint64_t>(sent);
      tell(static_cast<std::uint64_t>(sent));
    } else if (errno == EAGAIN && !socket.has_answer()) {
      return State::kWaits;
    } else {
      is_upload_cut_ = is_ready_ = true;
      break;
    }
  }
  if (!is_upload_cut_) note_sent();
  stage_ = Stage::kConversing;
  return {};
}

void EventClient::note_sent() {
  if (notes_transfers_) exchange_.sent_ns = base::now_ns();
}

// A server that takes no more says why on the other connection.
EventClient::Pause EventClient::upload_data() {
  if (const auto state = upload(data_socket_)) return state;
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
    got = socket_.receive_now(tools_.buffer.first(kReplyBytes));
  } else {
    kept_.resize(before + kReplyBytes);
    got = socket_.receive_now(std::span(kept_).subspan(before));
    kept_.resize(before + static_cast<std::size_t>(std::max<ssize_t>(got, 0)));
    pending_ = kept_;
  }
  if (got <= 0) return closed(got);
  if (before == 0) pending_ = {tools_.buffer.data(), static_cast<std::size_t>(got)};
  was_short_ = !socket_.may_have_more(got, kReplyBytes);
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
  if (got == 0) return fail(Fault::kClosed, "the server closed the connection");
  const int failure = errno;
  const std::string of_tls = socket_.failure();
  return fail(Fault::kClosed, of_tls.empty() ? text_of(failure) : of_tls);
}

void EventClient::note_received() {
  last_byte_ns_ = base::now_ns();
  if (first_received_ns_ == 0) first_received_ns_ = last_byte_ns_;
}

void EventClient::begin_file(std::uint64_t size_bytes) {
  left_bytes_ = size_bytes;
  if (!look_) return;
  look_->download.begin(request_->file_name);
  if (tools_.config.must_verify) look_->reference.begin(request_->file_name);
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

// One byte more than the file has left is asked for, so that bytes that nobody asked for are
// noticed without a further call. Who looks at the file gets them as the next reply.
ssize_t EventClient::receive_file_piece() {
  const std::span<char> into = room_for(left_bytes_ + 1);
  const ssize_t got = look_ ? socket_.receive_now(into) : socket_.discard_now(into);
  was_short_ = !socket_.may_have_more(got, into.size());
  return got;
}

// A file that ends with its connection.
EventClient::Pause EventClient::receive_data() {
  for (int call = 0; left_bytes_ > 0; ++call) {
    if (call == kMostCalls) return State::kMore;
    if (!is_data_ready_) return State::kWaits;
    const std::span<char> into = room_for(left_bytes_);
    const int fd = data_socket_.get();
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
    const ssize_t got = socket_.discard_now(into);
    if (got <= 0) return closed(got);
    note_received();
    was_short_ = !socket_.may_have_more(got, into.size());
    if (static_cast<std::uint64_t>(got) > left_bytes_) return fail(Fault::kProtocol);
    left_bytes_ -= static_cast<std::uint64_t>(got);
  }
  stage_ = Stage::kConversing;
  return {};
}

void EventClient::take_piece(std::string_view piece) {
  left_bytes_ -= piece.size();
  file_bytes_ += piece.size();
  tell(piece.size());
  if (!look_) return;
  if (tools_.config.must_verify) look_->reference.compare(piece);
  look_->download.keep(piece);
}

std::span<char> EventClient::room_for(std::uint64_t bytes) const {
  return tools_.buffer.first(std::min<std::uint64_t>(bytes, tools_.buffer.size()));
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

void EventClient::tell(std::uint64_t moved_bytes) const {
  if (series_ != nullptr && moved_bytes > 0) series_->move(moved_bytes);
}

}  // namespace loadgen
