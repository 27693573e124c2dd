#include "loadgen/clients/channels/channel.h"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <utility>

#include "base/clock.h"
#include "base/log.h"

namespace loadgen {

namespace {

// A reply is received with little of what is behind it, because that has to be copied.
constexpr std::size_t kShortReplyBytes = 1024;

}  // namespace

Channel::Channel(ChannelTools& tools) : tools_(tools), transfer_(tools.transfer) {
  current_.driver = make_driver(tools.driver_config);
  if (!has_data_connections()) following_.driver = make_driver(tools.driver_config);
}

pollfd Channel::wanted() const {
  const short sends = unsent_.empty() ? 0 : POLLOUT;
  switch (stage_) {
    case Stage::kClosed:
    case Stage::kIdle: break;
    case Stage::kConnecting: return {socket_.get(), POLLOUT, 0};
    case Stage::kShakingHands: return {socket_.get(), socket_.channel()->wanted(), 0};
    case Stage::kConnectingData: return {data_socket_.get(), POLLOUT, 0};
    case Stage::kConversing:
    case Stage::kSkipping: return {socket_.get(), static_cast<short>(POLLIN | sends), 0};
    case Stage::kReceiving:
      if (data_socket_.is_open() && transfer_.has_room(*current_.part))
        return {data_socket_.get(), POLLIN, 0};
      if (transfer_.has_room(*current_.part))
        return {socket_.get(), static_cast<short>(POLLIN | sends), 0};
      if (sends != 0) return {socket_.get(), sends, 0};
      break;
  }
  return {-1, 0, 0};
}

std::int64_t Channel::resumes_ns() const {
  if (stage_ == Stage::kIdle) return transfer_.look_due_ns();
  return stage_ == Stage::kClosed ? resumes_ns_ : INT64_MAX;
}

bool Channel::go_on(bool is_ready) {
  bool has_moved = false;
  if (is_ready) flush();
  while (!transfer_.has_ended() && step(std::exchange(is_ready, false) || socket_.has_pending()))
    has_moved = true;
  return has_moved;
}

// Returns whether there may be more to do at once.
bool Channel::step(bool is_ready) {
  switch (stage_) {
    case Stage::kClosed: return base::now_ns() >= resumes_ns_ && begin_to_connect();
    case Stage::kConnecting: return is_ready && finish_connecting();
    case Stage::kShakingHands: return is_ready && shake_hands();
    case Stage::kIdle: return ask_next();
    case Stage::kConversing: return converse(is_ready);
    case Stage::kConnectingData: return is_ready && finish_connecting_for_data();
    case Stage::kReceiving: return receive_part(is_ready);
    case Stage::kSkipping: return skip(is_ready);
  }
  return false;
}

bool Channel::ask_next() {
  if (transfer_.take_look()) {
    current_.has_look = true;
    ask(current_, {});
  } else if (must_look_) {
    ask(current_, {});
  } else if (const auto part = transfer_.take()) {
    ask(current_, part);
  } else {
    return false;
  }
  stage_ = Stage::kConversing;
  return true;
}

void Channel::ask(Ask& ask, std::optional<FilePart> part) {
  ask.is_under_way = true;
  ask.is_check = transfer_.is_checking();
  ask.part = part;
  ask.request = transfer_.request();
  ask.request.is_logged_in = false;
  PartOfFile& wanted = ask.request.part.emplace();
  if (part) {
    const std::size_t come = transfer_.come(*part);
    wanted = {part->offset + come, part->bytes - come, transfer_.version()};
    ask.left_bytes = wanted.bytes;
    Exchange& exchange = transfer_.exchange();
    if (exchange.asked_ns == 0) exchange.asked_ns = base::now_ns();
  }
  ask.driver->begin(ask.request);
}

// Of HTTP, the first step sends the request.
void Channel::ask_following() {
  if (!following_.driver || following_.is_under_way) return;
  const auto part = transfer_.take();
  if (!part) return;
  ask(following_, part);
  send(following_.driver->next({}).bytes);
}

bool Channel::converse(bool is_ready) {
  const Step step = current_.driver->next(received_);
  if (step.is_logged_in && transfer_.exchange().logged_in_ns == 0)
    transfer_.exchange().logged_in_ns = base::now_ns();
  // What is taken is removed last, because `why` may point to it.
  const std::string why = step.why.empty() ? "" : base::log::quoted(step.why);
  received_.erase(0, step.taken_bytes);
  const bool was_untried = is_untried_;
  if (step.taken_bytes > 0 && step.kind != Step::Kind::kSkip && !is_behind_) is_untried_ = false;
  switch (step.kind) {
    case Step::Kind::kSend: send(step.bytes); return true;
    case Step::Kind::kReceive: return receive_reply(is_ready);
    case Step::Kind::kOpenData: return open_data(step.data_port);
    case Step::Kind::kFile:
    case Step::Kind::kData:
      current_.keeps_connection = step.keeps_connection;
      stage_ = Stage::kReceiving;
      return true;
    case Step::Kind::kSkip:
      skipped_bytes_ = step.size_bytes;
      stage_ = Stage::kSkipping;
      return true;
    case Step::Kind::kDone:
      if (!step.failure) return conclude(step);
      if (is_behind_ || (was_untried && step.is_idle_end)) return replace_kept(why);
      transfer_.fail(*step.failure, why);
      return true;
    case Step::Kind::kUpload:
    case Step::Kind::kSendData: break;
  }
  return false;
}

bool Channel::receive_reply(bool is_ready) {
  if (!is_ready) return false;
  std::array<char, kShortReplyBytes> some;
  const ssize_t got = socket_.receive_now(some);
  if (got <= 0) return lose_after(got);
  is_reused_ = false;
  received_.append(some.data(), static_cast<std::size_t>(got));
  return true;
}

bool Channel::conclude(const Step& step) {
  current_.is_under_way = false;
  has_served_ = true;
  if (std::exchange(is_behind_, false)) is_reused_ = true;
  if (!current_.part) {
    must_look_ = current_.has_look = false;
    transfer_.learn(step.whole_bytes, step.version, current_.is_check);
  }
  if (!step.keeps_connection) {
    give_back(following_);
    hang_up();
    return true;
  }
  const bool has_following = following_.is_under_way;
  if (has_following) std::swap(current_, following_);
  stage_ = has_following ? Stage::kConversing : Stage::kIdle;
  return true;
}

// The buffer is only taken when there are bytes for it.
bool Channel::receive_part(bool is_ready) {
  if (!transfer_.has_room(*current_.part)) return false;
  if (!data_socket_.is_open() && take_early_bytes()) return true;
  if (!is_ready) return false;
  tls::Socket& from = data_socket_.is_open() ? data_socket_ : socket_;
  const auto room = transfer_.room(*current_.part);
  const std::span<char> into(reinterpret_cast<char*>(room.data()),
                             std::min<std::uint64_t>(room.size(), current_.left_bytes));
  const ssize_t got = transfer_.needs_bytes() ? from.receive_now(into) : from.discard_now(into);
  if (got <= 0) {
    transfer_.leave_room(*current_.part);
    return lose_after(got);
  }
  note_part(static_cast<std::size_t>(got));
  return true;
}

// Bytes of the part that came together with the reply.
bool Channel::take_early_bytes() {
  if (received_.empty()) return false;
  const auto room = transfer_.room(*current_.part);
  const auto bytes = std::min<std::size_t>({room.size(), received_.size(), current_.left_bytes});
  std::memcpy(room.data(), received_.data(), bytes);
  received_.erase(0, bytes);
  note_part(bytes);
  return true;
}

// The connection for the data ends with the part, whatever else the server would send. Over HTTP
// nothing more comes for it. The channel is done with it before the transfer knows of the bytes,
// because with the last ones the file has ended.
void Channel::note_part(std::size_t bytes) {
  has_brought_ = true;
  current_.left_bytes -= bytes;
  const FilePart part = *current_.part;
  if (current_.left_bytes > 0) {
    if (current_.keeps_connection) ask_following();
  } else {
    const tls::Socket closed = std::move(data_socket_);
    stage_ = Stage::kConversing;
    if (!has_data_connections()) converse(false);
  }
  transfer_.filled(part, bytes);
}

bool Channel::skip(bool is_ready) {
  const auto here = std::min<std::size_t>(skipped_bytes_, received_.size());
  received_.erase(0, here);
  skipped_bytes_ -= here;
  if (skipped_bytes_ == 0) stage_ = Stage::kConversing;
  return skipped_bytes_ == 0 || receive_reply(is_ready);
}

void Channel::send(std::string_view bytes) {
  unsent_ += bytes;
  flush();
}

// If the server has closed the connection, it may have sent the reason before. Both are found by
// reading.
void Channel::flush() {
  if (unsent_.empty()) return;
  const ssize_t sent = socket_.send_now(unsent_);
  if (sent < 0 && errno == EAGAIN) return;
  unsent_.erase(0, sent < 0 ? unsent_.size() : static_cast<std::size_t>(sent));
}

}  // namespace loadgen
