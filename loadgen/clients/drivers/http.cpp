#include "loadgen/clients/drivers/http.h"

#include <fmt/format.h>

#include <algorithm>
#include <iterator>

#include "http/path.h"
#include "loadgen/clients/upload.h"

namespace loadgen {

namespace {

// The body of a refusal is received so that the connection can be used again. A longer one is not
// worth that.
constexpr std::uint64_t kMaxRefusalBytes = 64 * 1024;

// So much of a put is sent together with its head.
constexpr std::uint64_t kFirstBytes = 16 * 1024;

constexpr int kRequestTimeout = 408;

constexpr std::string_view kBase64 =
    "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";

// Appends the base64 of what is given piece by piece.
class Base64 {
 public:
  explicit Base64(std::string& out) : out_(out) {}

  void add(std::string_view bytes) {
    for (const char byte : bytes) {
      bits_ = bits_ << 8 | static_cast<unsigned char>(byte);
      for (bit_count_ += 8; bit_count_ >= 6; bit_count_ -= 6)
        out_ += kBase64[bits_ >> (bit_count_ - 6) & 63];
    }
    byte_count_ += bytes.size();
  }

  void finish() {
    if (bit_count_ > 0) out_ += kBase64[bits_ << (6 - bit_count_) & 63];
    out_.append((3 - byte_count_ % 3) % 3, '=');
  }

 private:
  std::string& out_;
  std::uint32_t bits_ = 0;  // the last bit_count_ of them are not encoded yet
  unsigned bit_count_ = 0;
  std::size_t byte_count_ = 0;
};

// Appends a JSON string. Requires: no control bytes.
void add_json(std::string& out, std::string_view text) {
  out += '"';
  for (const char byte : text) {
    if (byte == '"' || byte == '\\') out += '\\';
    out += byte;
  }
  out += '"';
}

Cause cause_of_status(int status) {
  switch (status) {
    case 401:
    case 403: return base::ErrorCode::kDenied;
    case 404: return base::ErrorCode::kNotFound;
    case 409: return base::ErrorCode::kExists;
    case 421:
    case 429: return base::ErrorCode::kBusy;
    case 503: return base::ErrorCode::kUnavailable;
    default: return Fault::kProtocol;
  }
}

}  // namespace

void HttpDriver::begin(const Request& request) {
  kind_ = request.kind;
  part_ = request.part;
  version_ = part_ ? part_->version : "";
  state_ = State::kBegun;
  answer_ = HttpAnswer();
  request_.clear();
  unsent_bytes_ = first_bytes_ = 0;
  if (kind_ == RequestKind::kNew) {
    compose_new(request);
  } else {
    compose_with_credentials(request);
  }
}

void HttpDriver::compose_new(const Request& request) {
  std::string body = "{\"user\":";
  add_json(body, request.account.user);
  body += ",\"password\":";
  add_json(body, request.account.password);
  body += '}';
  fmt::format_to(std::back_inserter(request_),
                 "POST /-/accounts HTTP/1.1\r\nHost: {}\r\nContent-Type: application/json\r\n"
                 "Content-Length: {}\r\n{}\r\n{}",
                 host_, body.size(), is_kept_ ? "" : "Connection: close\r\n", body);
}

void HttpDriver::compose_with_credentials(const Request& request) {
  const bool is_head = part_ && part_->bytes == 0;
  request_ += kind_ == RequestKind::kPut ? "PUT /" : is_head ? "HEAD /" : "GET /";
  request_ += http::encode_path(request.file_name);
  request_ += " HTTP/1.1\r\nHost: ";
  request_ += host_;
  request_ += "\r\nAuthorization: Basic ";
  Base64 credentials(request_);
  credentials.add(request.account.user);
  credentials.add(":");
  credentials.add(request.account.password);
  credentials.finish();
  request_ += is_kept_ ? "\r\n" : "\r\nConnection: close\r\n";
  if (part_ && !is_head) add_part(*part_);
  if (kind_ == RequestKind::kPut)
    fmt::format_to(std::back_inserter(request_), "Content-Length: {}\r\n", request.size_bytes);
  request_ += "\r\n";
  if (kind_ != RequestKind::kPut) return;
  first_bytes_ = std::min(request.size_bytes, kFirstBytes);
  request_ += upload_bytes().substr(0, first_bytes_);
  unsent_bytes_ = request.size_bytes - first_bytes_;
}

void HttpDriver::add_part(const PartOfFile& part) {
  fmt::format_to(std::back_inserter(request_), "Range: bytes={}-{}\r\nIf-Range: {}\r\n",
                 part.offset, part.offset + part.bytes - 1, part.version);
}

Step HttpDriver::next(std::string_view received) {
  if (state_ == State::kRead) return done();
  if (state_ == State::kBegun) {
    state_ = unsent_bytes_ > 0 ? State::kSent : State::kAsked;
    return {.kind = Step::Kind::kSend,
            .bytes = request_,
            .file_bytes = first_bytes_,
            .asks_for_file = kind_ != RequestKind::kNew};
  }
  if (state_ == State::kSent) {
    state_ = State::kAsked;
    return {.kind = Step::Kind::kUpload, .size_bytes = unsent_bytes_};
  }
  switch (answer_.read(received)) {
    case HttpAnswer::State::kNeedMore: return {.kind = Step::Kind::kReceive};
    case HttpAnswer::State::kMalformed: return not_understood(received);
    case HttpAnswer::State::kComplete: break;
  }
  state_ = State::kRead;
  Step step = judge(received.substr(0, answer_.status_line_bytes()));
  step.taken_bytes = answer_.head_bytes();
  return step;
}

bool HttpDriver::is_right() const {
  if (part_) return is_right_part();
  const int status = answer_.status();
  switch (kind_) {
    case RequestKind::kGet: return status == 200;
    case RequestKind::kPut: return status == 201 || status == 204;
    case RequestKind::kNew: return status == 201;
  }
  return false;
}

bool HttpDriver::is_right_part() const {
  const auto& range = answer_.range();
  const std::uint64_t last = part_->offset + part_->bytes - 1;
  return answer_.status() == 206 && answer_.content_length() == part_->bytes && range &&
         range->first == part_->offset && range->last == last && answer_.etag() == version_;
}

// Why the answer is not right. A server that sends the whole file instead of a part, and the same
// version, knows no parts.
Cause HttpDriver::cause() const {
  const int status = answer_.status();
  const bool is_file = status == 200 || status == 206;
  if (part_ && is_file && !answer_.etag().empty() && answer_.etag() != version_)
    return Fault::kChanged;
  return is_right() ? Cause(Fault::kProtocol) : cause_of_status(status);
}

// Nothing follows the head.
Step HttpDriver::judge_head(std::string_view status_line) {
  const bool is_found = answer_.status() == 200;
  const bool has_all = answer_.content_length() && !answer_.is_encoded() && !answer_.etag().empty();
  keeps_connection_ = is_kept_ && answer_.keeps_connection();
  failure_.reset();
  if (!is_found) failure_ = cause_of_status(answer_.status());
  if (is_found && !has_all) failure_ = Fault::kProtocol;
  why_ = is_found ? "the answer to HEAD has no strong ETag, or no length" : status_line;
  Step step = done();
  step.whole_bytes = answer_.content_length().value_or(0);
  step.version = answer_.etag();
  return step;
}

// Decides what becomes of the request, and what to do with the body. A body that has to be chunked
// or that ends with the connection is not received.
Step HttpDriver::judge(std::string_view status_line) {
  if (part_ && part_->bytes == 0) return judge_head(status_line);
  const bool has_no_body = answer_.status() == 204 && !answer_.is_encoded();
  const auto length = has_no_body ? 0 : answer_.content_length();
  const bool has_length = length && !answer_.is_encoded();
  const bool has_succeeded = is_right() && has_length;
  failure_.reset();
  if (!has_succeeded) {
    failure_ = cause();
    why_ = status_line;
  }
  const bool is_received = has_length && (has_succeeded || *length <= kMaxRefusalBytes);
  keeps_connection_ = is_kept_ && is_received && answer_.keeps_connection();
  if (!is_received) return done();
  const bool is_file = has_succeeded && kind_ == RequestKind::kGet;
  return {.kind = is_file ? Step::Kind::kFile : Step::Kind::kSkip,
          .size_bytes = *length,
          .keeps_connection = keeps_connection_};
}

Step HttpDriver::done() const {
  Step step{.kind = Step::Kind::kDone, .failure = failure_, .keeps_connection = keeps_connection_};
  if (failure_) step.why = why_;
  step.is_idle_end = failure_ && answer_.status() == kRequestTimeout;
  return step;
}

}  // namespace loadgen
