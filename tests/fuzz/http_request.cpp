// Random bytes, in pieces of random size, for the parser of heads and the decoder of chunks.
// However the bytes are cut, they must give the same request. What is accepted must be framed alike
// by http_parser, which is more lenient: a request that two servers on its way frame in different
// ways can smuggle another one past the first of them.
#include <http_parser.h>

#include <algorithm>
#include <string>

#include "http/chunks.h"
#include "http/request_head.h"
#include "tests/fuzz/require.h"

namespace {

using fuzz::require;
using http::ChunkDecoder;
using http::HeadParser;

struct Request {
  bool is_complete = false;
  int status = 0;  // of a refusal
  bool is_known_method = false;
  bool is_chunked = false;
  std::string target;
  std::string body;
  std::size_t head_bytes = 0;
  std::size_t size_bytes = 0;  // head and body

  bool operator==(const Request&) const = default;
};

// Reads the body from the bytes behind the head.
void read_body(std::string_view rest, const http::Body& body, std::size_t piece_bytes,
               Request& request) {
  if (body.kind != http::Body::Kind::kChunked) {
    request.is_complete = rest.size() >= body.size_bytes;
    request.body = rest.substr(0, body.size_bytes);
    request.size_bytes += request.body.size();
    return;
  }
  ChunkDecoder decoder;
  while (!rest.empty() && decoder.state() == ChunkDecoder::State::kNeedMore) {
    std::string_view piece = rest.substr(0, piece_bytes);
    const std::size_t before = piece.size();
    request.body += decoder.take(piece);
    require(piece.size() < before);
    rest.remove_prefix(before - piece.size());
    request.size_bytes += before - piece.size();
  }
  request.is_complete = decoder.state() == ChunkDecoder::State::kComplete;
  if (decoder.state() == ChunkDecoder::State::kRefused) request.status = decoder.status().number();
}

Request read_request(std::string_view stream, std::size_t piece_bytes) {
  HeadParser parser;
  HeadParser::State state = HeadParser::State::kNeedMore;
  std::string received;
  while (state == HeadParser::State::kNeedMore && received.size() < stream.size()) {
    received = std::string(stream.substr(0, received.size() + piece_bytes));
    state = parser.parse(received);
  }
  Request request;
  if (state == HeadParser::State::kRefused) request.status = parser.status().number();
  if (state != HeadParser::State::kComplete) return request;
  const http::RequestHead& head = parser.head();
  require(parser.size_bytes() <= http::kMaxHeadBytes + 2);
  require(head.target().size() <= http::kMaxTargetBytes && !head.path().empty());
  require(head.has(http::Field::kHost) || head.is_1_0());
  request.is_known_method = head.method() != http::Method::kOther;
  request.is_chunked = head.body().kind == http::Body::Kind::kChunked;
  request.target = head.target();
  request.head_bytes = request.size_bytes = parser.size_bytes();
  read_body(stream.substr(parser.size_bytes()), head.body(), piece_bytes, request);
  return request;
}

Request& request_of(http_parser* parser) { return *static_cast<Request*>(parser->data); }

// Reads the first request with http_parser.
Request read_second_opinion(std::string_view stream, http_errno& error, bool& is_upgrade) {
  Request request;
  http_parser parser;
  http_parser_init(&parser, HTTP_REQUEST);
  parser.data = &request;
  http_parser_settings settings;
  http_parser_settings_init(&settings);
  settings.on_url = [](http_parser* p, const char* at, size_t size) {
    request_of(p).target.append(at, size);
    return 0;
  };
  settings.on_body = [](http_parser* p, const char* at, size_t size) {
    request_of(p).body.append(at, size);
    return 0;
  };
  settings.on_message_complete = [](http_parser* p) {
    request_of(p).is_complete = true;
    http_parser_pause(p, 1);
    return 0;
  };
  request.size_bytes = http_parser_execute(&parser, &settings, stream.data(), stream.size());
  error = HTTP_PARSER_ERRNO(&parser);
  is_upgrade = parser.upgrade != 0;
  return request;
}

// Whether a name in the head begins with Transfer-Encoding and goes on.
bool has_longer_transfer_encoding(std::string_view head) {
  constexpr std::string_view kName = "\ntransfer-encoding";
  const auto is_same = [](char a, char b) { return (a >= 'A' && a <= 'Z' ? a + 32 : a) == b; };
  for (auto at = head.begin();; ++at) {
    at = std::search(at, head.end(), kName.begin(), kName.end(), is_same);
    if (at == head.end()) return false;
    const auto behind = at + static_cast<std::ptrdiff_t>(kName.size());
    if (behind != head.end() && *behind != ':') return true;
  }
}

void compare(std::string_view stream, const Request& ours) {
  http_errno error = HPE_OK;
  bool is_upgrade = false;
  const Request theirs = read_second_opinion(stream, error, is_upgrade);
  // It does not know all methods, and looks into targets. It ends at an upgrade, which we ignore.
  if (!ours.is_known_method || error == HPE_INVALID_URL || is_upgrade) return;
  // It takes a field whose name begins with Transfer-Encoding for that.
  if (error == HPE_INVALID_TRANSFER_ENCODING && !ours.is_chunked) return;
  if (!ours.is_chunked && has_longer_transfer_encoding(stream.substr(0, ours.head_bytes))) return;
  // It looks into trailers, which we drop unread: they can no longer change where the body ended.
  const bool is_in_body = theirs.size_bytes >= ours.head_bytes;
  const bool is_about_fields = error == HPE_INVALID_CONTENT_LENGTH ||
                               error == HPE_UNEXPECTED_CONTENT_LENGTH ||
                               error == HPE_INVALID_TRANSFER_ENCODING;
  const bool is_trailer_refused = ours.is_chunked && is_in_body && is_about_fields;
  if (!is_trailer_refused) require(theirs.is_complete == ours.is_complete);
  require(theirs.target == ours.target && theirs.body == ours.body);
  if (theirs.is_complete) require(theirs.size_bytes == ours.size_bytes);
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view stream = fuzz::text_of(data + 1, size - 1);
  const Request request = read_request(stream, stream.size() + 1);
  require(read_request(stream, data[0] + std::size_t{1}) == request);
  if (request.status == 0 && request.size_bytes > 0) compare(stream, request);
  return 0;
}
