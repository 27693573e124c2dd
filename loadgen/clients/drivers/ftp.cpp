#include "loadgen/clients/drivers/ftp.h"

#include <string>

namespace loadgen {

namespace {

// The replies that are expected (RFC 959, section 5.4).
constexpr int kDataOpen = 125;
constexpr int kDataComes = 150;
constexpr int kDone = 200;
constexpr int kSizeIs = 213;
constexpr int kReady = 220;
constexpr int kGoodbye = 221;
constexpr int kFileSent = 226;
constexpr int kPassive = 227;
constexpr int kExtendedPassive = 229;
constexpr int kLoggedIn = 230;
constexpr int kFileDone = 250;
constexpr int kNeedsPassword = 331;
constexpr int kRestartsThere = 350;

// Those that mean what an error of the native protocol means.
constexpr int kNotAvailable = 421;
constexpr int kNotLoggedIn = 530;
constexpr int kNoFile = 550;

bool is_refusal(int code) { return code >= 400; }
bool ends_session(int code) { return code == kNotAvailable || code == kNotLoggedIn; }

Cause cause_of_code(int code) {
  switch (code) {
    case kNotAvailable: return base::ErrorCode::kBusy;
    case kNotLoggedIn: return base::ErrorCode::kDenied;
    case kNoFile: return base::ErrorCode::kNotFound;
    default: return Fault::kProtocol;
  }
}

Step failed(const FtpReply& reply, bool keeps_connection = false) {
  return {.kind = Step::Kind::kDone,
          .failure = cause_of_code(reply.code),
          .keeps_connection = keeps_connection,
          .is_idle_end = reply.code == kNotAvailable,
          .why = reply.line};
}

}  // namespace

void FtpDriver::begin(const Request& request) {
  request_ = &request;
  size_bytes_.reset();
  if (request.is_logged_in) state_ = State::kIdle;
}

Step FtpDriver::command(State state, std::string_view verb, std::string_view argument) {
  state_ = state;
  line_ = verb;
  if (!argument.empty()) line_ += ' ';
  line_ += argument;
  line_ += "\r\n";
  return {.kind = Step::Kind::kSend, .bytes = line_};
}

Step FtpDriver::begin_file(bool is_log_in_over) {
  Step step = must_ask_size() ? command(State::kSize, "SIZE", request_->file_name) : ask_port();
  step.is_logged_in = is_log_in_over;
  return step;
}

bool FtpDriver::must_ask_size() {
  if (is_put()) return false;
  if (is_part()) return is_only_look();
  if (ways_.sizes == Sizes::kAlways) return true;
  const auto known = sizes_.find(request_->file_name);
  if (known == sizes_.end()) return !announces_;
  size_bytes_ = known->second;
  return false;
}

Step FtpDriver::ask_port() {
  return command(State::kAskedPort, data_ == FtpData::kEpsv ? "EPSV" : "PASV");
}

Step FtpDriver::next(std::string_view received) {
  if (state_ == State::kIdle) return begin_file(false);
  if (state_ == State::kTransfer) {
    if (!is_part()) return ask_for_file();
    return command(State::kRestart, "REST", std::to_string(request_->part->offset));
  }
  const FtpReply reply = read_ftp_reply(received);
  if (reply.state == FtpReply::State::kNeedMore) return {.kind = Step::Kind::kReceive};
  if (reply.state == FtpReply::State::kMalformed)
    return {.kind = Step::Kind::kDone, .failure = Fault::kProtocol, .why = reply.line};
  Step step = take(reply);
  step.taken_bytes = reply.size_bytes;
  return step;
}

Step FtpDriver::take(const FtpReply& reply) {
  switch (state_) {
    case State::kConnected:
      if (reply.code == kReady) return command(State::kUser, "USER", request_->account.user);
      break;
    case State::kUser:
      if (reply.code == kNeedsPassword)
        return command(State::kPassword, "PASS", request_->account.password);
      [[fallthrough]];
    case State::kPassword:
      if (reply.code == kLoggedIn) return command(State::kType, "TYPE", "I");
      break;
    case State::kType:
      if (reply.code == kDone) return begin_file(true);
      break;
    case State::kSize: return take_size(reply);
    case State::kModified: return take_version(reply);
    case State::kAskedPort: return take_port(reply);
    case State::kRestart:
      if (reply.code == kRestartsThere) return ask_for_file();
      break;
    case State::kPromised:
      if (reply.code != kDataOpen && reply.code != kDataComes) break;
      return take_promise(reply);
    case State::kData:
      if (!is_right_end(reply.code)) break;
      return finish();
    case State::kQuit:
      if (reply.code != kGoodbye) break;
      return {.kind = Step::Kind::kDone};
    case State::kIdle:
    case State::kTransfer: break;
  }
  const bool is_only_missing = state_ == State::kPromised && reply.code == kNoFile;
  if (is_only_missing) state_ = State::kIdle;
  return failed(reply, is_only_missing);
}

Step FtpDriver::take_size(const FtpReply& reply) {
  if (reply.code == kSizeIs) size_bytes_ = size_in(reply.text);
  const bool must_know = ways_.sizes == Sizes::kAlways || is_only_look();
  if ((must_know && !size_bytes_) || ends_session(reply.code)) return failed(reply);
  if (is_only_look()) return command(State::kModified, "MDTM", request_->file_name);
  if (!must_know) {
    if (sizes_.size() == kMostSizes) sizes_.clear();
    sizes_.emplace(request_->file_name, size_bytes_);
  }
  return ask_port();
}

// Not every server knows MDTM. Then there is no version.
Step FtpDriver::take_version(const FtpReply& reply) {
  if (ends_session(reply.code)) return failed(reply);
  state_ = State::kIdle;
  version_ = reply.code == kSizeIs ? reply.text : "";
  return {.kind = Step::Kind::kDone,
          .keeps_connection = true,
          .whole_bytes = *size_bytes_,
          .version = version_};
}

Step FtpDriver::ask_for_file() {
  Step step = command(State::kPromised, is_put() ? "STOR" : "RETR", request_->file_name);
  step.asks_for_file = true;
  return step;
}

// A server whose data connection was closed behind the part says so with a refusal, most of them
// with 426. Pure-FTPd says 150 once more.
bool FtpDriver::is_right_end(int code) const {
  if (is_part()) return !ends_session(code);
  return code == kFileSent || code == kFileDone;
}

Step FtpDriver::take_promise(const FtpReply& reply) {
  state_ = State::kData;
  if (is_part()) return {.kind = Step::Kind::kData, .size_bytes = request_->part->bytes};
  if (is_put()) return {.kind = Step::Kind::kSendData, .size_bytes = request_->size_bytes};
  const auto announced = announced_bytes(reply.text);
  announces_ = announced.has_value();
  if (announced) size_bytes_ = announced;
  return {.kind = Step::Kind::kData, .size_bytes = size_bytes_.value_or(Step::kUnknownSize)};
}

Step FtpDriver::finish() {
  if (ways_.quits) return command(State::kQuit, "QUIT");
  state_ = State::kIdle;
  return {.kind = Step::Kind::kDone, .keeps_connection = true};
}

// A server that does not know EPSV says so with a refusal. Then PASV is used on this connection.
Step FtpDriver::take_port(const FtpReply& reply) {
  const bool is_extended = data_ == FtpData::kEpsv;
  if (is_extended && is_refusal(reply.code) && !ends_session(reply.code)) {
    data_ = FtpData::kPasv;
    return ask_port();
  }
  const bool is_right = reply.code == (is_extended ? kExtendedPassive : kPassive);
  const auto port = is_extended ? epsv_port(reply.text) : pasv_port(reply.text);
  if (!is_right || !port) return failed(reply);
  state_ = State::kTransfer;
  return {.kind = Step::Kind::kOpenData, .data_port = *port};
}

}  // namespace loadgen
