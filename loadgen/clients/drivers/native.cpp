#include "loadgen/clients/drivers/native.h"

#include <variant>

#include "wire/error_word.h"
#include "wire/line_buffer.h"
#include "wire/reply.h"

namespace loadgen {

namespace {

Step succeeded() { return {.kind = Step::Kind::kDone, .keeps_connection = true}; }

Step failed(base::ErrorCode code) {
  return {.kind = Step::Kind::kDone,
          .failure = code,
          .keeps_connection = !wire::closes_connection(code)};
}

}  // namespace

void NativeDriver::begin(const Request& request) {
  kind_ = request.kind;
  state_ = State::kBegun;
  after_opening_ = State::kOpened;
  if (kind_ == RequestKind::kNew) {
    opening_ = wire::line_of(wire::New{request.account});
    return;
  }
  if (request.is_logged_in) {
    opening_ = wire::line_of(wire::FileName{request.file_name});
    after_opening_ = State::kNamed;
    file_line_.clear();
    return;
  }
  opening_ = wire::line_of(wire::Get{request.account});
  file_line_ = wire::line_of(wire::FileName{request.file_name});
  if (!is_pipelined_) return;
  opening_ += file_line_;
  file_line_.clear();
}

Step NativeDriver::next(std::string_view received) {
  if (state_ == State::kFetched) return succeeded();
  if (state_ == State::kBegun) {
    state_ = after_opening_;
    const bool asks = kind_ == RequestKind::kGet && file_line_.empty();
    return {.kind = Step::Kind::kSend, .bytes = opening_, .asks_for_file = asks};
  }
  const wire::FirstLine first = wire::first_line(received);
  if (first.state == wire::FirstLine::State::kNeedMore) return {.kind = Step::Kind::kReceive};
  if (first.state == wire::FirstLine::State::kTooLong) return not_understood(received);
  Step step = take(first.line);
  step.taken_bytes = first.size_bytes;
  return step;
}

Step NativeDriver::take(std::string_view line) {
  const wire::Reply reply = wire::parse_reply(line);
  if (const auto* const error = std::get_if<wire::Err>(&reply)) return refuse(error->code);
  if (state_ == State::kOpened && std::holds_alternative<wire::Ok>(reply)) {
    if (kind_ == RequestKind::kNew) return succeeded();
    state_ = State::kNamed;
    return {.kind = Step::Kind::kSend, .bytes = file_line_, .asks_for_file = !file_line_.empty()};
  }
  const auto* const file = std::get_if<wire::OkSized>(&reply);
  if (state_ != State::kNamed || file == nullptr) return not_understood(line);
  state_ = State::kFetched;
  return {.kind = Step::Kind::kFile, .size_bytes = file->size_bytes};
}

// With `is_pipelined` the file name was sent together with the `get:` that was refused. The server
// refuses it too, and that reply must be read before the connection can be used again.
Step NativeDriver::refuse(base::ErrorCode code) {
  const bool is_name_refused_too = kind_ == RequestKind::kGet && is_pipelined_ &&
                                   state_ == State::kOpened && !wire::closes_connection(code);
  if (is_name_refused_too) {
    refusal_ = code;
    state_ = State::kRefused;
    return {.kind = Step::Kind::kSend};
  }
  const bool was_refused_before = state_ == State::kRefused && !wire::closes_connection(code);
  return failed(was_refused_before ? refusal_ : code);
}

}  // namespace loadgen
