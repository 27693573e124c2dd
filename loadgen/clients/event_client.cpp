#include "loadgen/clients/event_client.h"

#include <algorithm>
#include <cassert>
#include <system_error>
#include <utility>

#include "base/clock.h"
#include "base/log.h"

namespace loadgen {

std::string EventClient::text_of(int errno_value) {
  return std::generic_category().message(errno_value);
}

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
  is_reused_ = socket_.is_open();
  const bool is_lost = is_reused_ && request.kind != RequestKind::kGet && socket_.has_answer();
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
    case Stage::kShakingHands: return shake_hands();
    case Stage::kConversing: return converse();
    case Stage::kSending: return send();
    case Stage::kUploading: return upload(socket_);
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

void EventClient::run_out_of_time() {
  if (go_on() == State::kDone) return;
  is_reused_ = false;  // there is no time to send it again
  const bool encrypts = stage_ == Stage::kShakingHands;
  fail(Fault::kTimeout, encrypts ? "no TLS: the handshake was not made in time" : "");
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

std::optional<std::string> EventClient::save_failure() const {
  return look_ ? look_->download.failure() : std::nullopt;
}

}  // namespace loadgen
