// Random bytes for the parsers of paths and of the values of fields.
#include <algorithm>
#include <array>
#include <string>
#include <vector>

#include "http/basic.h"
#include "http/conditions.h"
#include "http/date.h"
#include "http/digest.h"
#include "http/if_header.h"
#include "http/path.h"
#include "http/range.h"
#include "http/upload_fields.h"
#include "tests/fuzz/require.h"
#include "wire/request.h"

namespace {

using fuzz::require;

constexpr std::int64_t kNow = 1'790'000'000;

void check_path(std::string_view text) {
  std::vector<char> out(text.size() + 1);
  const auto path = http::decode_path(text, {out.data(), text.size()});
  if (!path) return;
  require(path->name.empty() || wire::is_file_name(path->name));
  require(path->name.find('\0') == std::string_view::npos);
  const std::string again = "/" + http::encode_path(path->name);
  std::vector<char> room(again.size());
  const auto decoded = http::decode_path(again, room);
  require(decoded && decoded->name == path->name);
}

void check_ranges(std::string_view text, std::uint64_t size_bytes) {
  const http::Ranges ranges = http::parse_ranges(text, size_bytes);
  require((ranges.kind == http::Ranges::Kind::kParts) == !ranges.parts.empty());
  require(ranges.parts.size() <= http::kMaxParts);
  std::uint64_t end = 0;
  for (const http::ByteRange& part : ranges.parts) {
    require(&part == &ranges.parts.front() || part.begin > end);
    require(part.begin < part.end && part.end <= size_bytes);
    end = part.end;
  }
}

void check_date(std::string_view text) {
  const auto time = http::parse_upload_time(text);
  require(!time || std::to_string(*time) == text || text.front() == '0');
  const auto seconds = http::parse_date(text, kNow);
  if (!seconds) return;
  require(http::parse_date(http::date_text(*seconds).view(), kNow) == seconds);
}

void check_credentials(std::string_view text) {
  std::array<char, http::kMaxBasicBytes> out{};
  const auto credentials = http::parse_basic(text, out);
  if (!credentials) return;
  require(credentials->user.find(':') == std::string_view::npos);
  require(credentials->user.size() + 1 + credentials->password.size() <= out.size());
}

// All conditions at once. Whatever they say, the answer is one of the contract.
void check_conditions(std::string_view text) {
  std::string lines(text.substr(0, 2000));
  std::ranges::replace_if(
      lines, [](char byte) { return byte == '\r' || byte == '\n'; }, ' ');
  std::string request = "GET / HTTP/1.0\r\n";
  for (const char* name : {"If-Match: ", "If-None-Match: ", "If-Modified-Since: ", "If-Range: ",
                           "If-Unmodified-Since: ", "Content-Digest: ", "Want-Repr-Digest: ",
                           "Content-Disposition: ", "Content-Type: ", "Upload-Checksum: "})
    request += name + lines + "\r\n";
  request += "\r\n";
  http::HeadParser parser;
  if (parser.parse(request) != http::HeadParser::State::kComplete) return;
  const http::RequestHead& head = parser.head();
  const http::Validators current(1, 784'111'777'000'000'000, kNow);
  require(http::evaluate(head, nullptr, kNow) != http::Verdict::kNotModified);
  if (lines.find(current.tag.view()) == std::string::npos && lines.find('*') == std::string::npos)
    require(http::evaluate(head, &current, kNow) == http::Verdict::kPreconditionFailed);
  if (http::if_range_holds(head, current))
    require(lines.find(current.tag.view()) != std::string::npos ||
            lines.find("1994") != std::string::npos);
  static_cast<void>(http::parse_digest(head, http::Field::kContentDigest));
  static_cast<void>(http::parse_checksum(head));
  static_cast<void>(http::has_media_type(head, "text/plain"));
  if (const auto name = http::disposition_name(head)) require(name->size() <= lines.size());
  if (http::wants_sha256(head)) require(lines.find("sha-256=") != std::string::npos);
}

void check_upload(std::string_view text) {
  if (http::parse_boolean_item(text)) require(text.find('?') != std::string_view::npos);
  if (const auto count = http::parse_count_item(text)) require(*count < 1'000'000'000'000'000);
  const auto value = http::metadata_value(text, "filename");
  if (value) require(value->size() < text.size());
}

void check_if(std::string_view text) {
  static_cast<void>(http::parse_timeout(text));
  static_cast<void>(http::parse_lock_token(text));
  const auto header = http::parse_if(text);
  if (!header) return;
  std::size_t conditions = 0;
  bool has_negated = false;
  for (const http::IfList& list : header->lists) {
    require(!list.conditions.empty());
    require(list.path.has_value() == header->lists.front().path.has_value());
    require(!list.path || list.path->empty() || list.path->front() == '/');
    for (const http::IfCondition& condition : list.conditions) {
      require(!condition.text.empty() && text.find(condition.text) != std::string_view::npos);
      has_negated = has_negated || condition.is_negated;
      ++conditions;
    }
  }
  require(conditions <= http::kMaxIfConditions);
  const auto never = [](const auto&, const auto&) { return false; };
  require(has_negated || !http::holds(*header, never));
}

}  // namespace

extern "C" int LLVMFuzzerTestOneInput(const unsigned char* data, std::size_t size) {
  if (size == 0) return 0;
  const std::string_view text = fuzz::text_of(data + 1, size - 1);
  check_path(text);
  check_ranges(text, data[0] < 128 ? data[0] : std::uint64_t{1} << (data[0] - 128) % 64);
  check_date(text);
  check_credentials(text);
  check_conditions(text);
  check_upload(text);
  check_if(text);
  return 0;
}
