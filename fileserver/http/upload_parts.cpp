#include "fileserver/http/upload_parts.h"

#include <fmt/format.h>

#include <algorithm>
#include <functional>
#include <string>

#include "fileserver/http/exchange.h"
#include "fileserver/http/part_steps.h"
#include "fileserver/parts.h"
#include "http/date.h"
#include "http/upload_fields.h"

namespace fileserver {

namespace {

using http::Field;
using http::Method;

constexpr std::string_view kPartialUpload = "application/partial-upload";

// The draft counts what it changed: a client that names another number gets no interim answers,
// which it might read otherwise.
constexpr std::uint64_t kInteropVersion = 8;

std::string limits_text(const Parts& parts, std::int64_t left_s) {
  std::string text = fmt::format("max-age={}", left_s);
  if (parts.offer.max_upload_bytes > 0)
    text += fmt::format(", max-size={}", parts.offer.max_upload_bytes);
  return text;
}

// What a request of the draft says.
struct PartFields {
  explicit PartFields(const http::RequestHead& head)
      : completes(http::parse_boolean_item(head.value(Field::kUploadComplete))),
        offset(http::parse_count_item(head.value(Field::kUploadOffset))),
        length(http::parse_count_item(head.value(Field::kUploadLength))),
        content(announced_size(head.body())),
        takes_interim(!head.is_1_0() &&
                      http::parse_count_item(head.value(Field::kUploadDraftInteropVersion)) ==
                          kInteropVersion) {}

  // The length of the whole file, if this request tells it. Nothing is told if `is_consistent` is
  // false.
  std::optional<std::uint64_t> told_length(std::uint64_t offset_bytes) {
    std::optional<std::uint64_t> by_content;
    if (completes.value_or(false) && content) by_content = offset_bytes + *content;
    if (length && by_content && *length != *by_content) is_consistent = false;
    return length ? length : by_content;
  }

  std::optional<bool> completes;
  std::optional<std::uint64_t> offset;
  std::optional<std::uint64_t> length;
  std::optional<std::uint64_t> content;
  bool takes_interim;
  bool is_consistent = true;
};

void set_field(Exchange& exchange, std::string_view name, std::string value) {
  for (auto& [known, text] : exchange.further_fields) {
    if (known != name) continue;
    text = std::move(value);
    return;
  }
  exchange.further_fields.emplace_back(name, std::move(value));
}

void refuse_length(Exchange& exchange) {
  set_field(exchange, "Upload-Complete", "?0");
  answer_problem(exchange, 400, "inconsistent-upload-length",
                 "the lengths of the upload contradict each other");
}

void refuse_offset(Exchange& exchange, std::uint64_t expected, std::uint64_t provided) {
  set_field(exchange, "Upload-Complete", "?0");
  answer_problem(
      exchange, 409, "mismatching-upload-offset", "the upload has another offset",
      fmt::format(", \"expected-offset\": {}, \"provided-offset\": {}", expected, provided));
}

void tell_limits(Exchange& exchange, const Parts& parts, const PartialUpload& upload) {
  set_field(exchange, "Upload-Limit", limits_text(parts, upload.left_s()));
}

void send_interim(Exchange& exchange, std::string_view fields) {
  exchange.connection().send(fmt::format(
      "HTTP/1.1 104 Upload Resumption Supported\r\nUpload-Draft-Interop-Version: {}\r\n{}\r\n",
      kInteropVersion, fields));
}

void answer_progress(Exchange& exchange, http::Status status) {
  set_field(exchange, "Upload-Complete", "?0");
  http::AnswerHead head = exchange.begin(status);
  if (status == 201) head.field("Content-Length", std::uint64_t{0});
  exchange.connection().send(head.finish());
}

// Appends the body. Behind the last part the file gets its name.
void append_part(Exchange& exchange, Parts& parts, PartSteps& steps, const PartFields& fields,
                 http::Status progress) {
  DigestCheck content(http::parse_digest(steps.head(), Field::kContentDigest));
  if (content.is_malformed()) return exchange.answer(400);
  const bool has_length = steps.state().length_bytes.has_value();
  const std::uint64_t left = steps.left_bytes();
  PartialUpload& upload = steps.upload();
  const auto tell_progress = [&] {
    send_interim(exchange, fmt::format("Upload-Offset: {}\r\n", upload.offset_bytes()));
  };
  const Refusal refusal = steps.take_body(
      left, content, fields.takes_interim ? tell_progress : std::function<void()>());
  set_field(exchange, "Upload-Offset", std::to_string(upload.offset_bytes()));
  tell_limits(exchange, parts, upload);
  if (refusal && *refusal == http::Status(413) && has_length) {
    upload.remove();  // more than its client has said: nothing of it can be right
    return refuse_length(exchange);
  }
  if (refusal) return exchange.answer(*refusal);
  if (!*fields.completes) return answer_progress(exchange, progress);
  if (steps.state().length_bytes.value_or(upload.offset_bytes()) != upload.offset_bytes())
    return refuse_length(exchange);
  set_field(exchange, "Upload-Complete", "?1");
  steps.publish();
}

// A client that sends all and takes no interim answer does not learn the address of the upload
// before a break. Then nothing is kept.
void begin_parts(Exchange& exchange, Parts& parts, std::string_view name) {
  const http::RequestHead& head = exchange.head();
  PartFields fields(head);
  if (!fields.completes) return exchange.answer(400);
  if (head.is_1_0() && head.body().kind == http::Body::Kind::kNone) return exchange.answer(411);
  if (head.has(Field::kContentRange)) return exchange.answer(400);
  if (head.has(Field::kXOcMtime) && !http::parse_upload_time(head.value(Field::kXOcMtime)))
    return exchange.answer(400);
  if (head.has(Field::kContentEncoding)) return exchange.answer(415);
  if (DigestCheck(head).is_malformed()) return exchange.answer(400);
  const auto length = fields.told_length(0);
  const std::uint64_t least = std::max(length.value_or(0), fields.content.value_or(0));
  if (!fields.is_consistent || (length && least > *length)) return refuse_length(exchange);
  if (least > parts.most_upload_bytes()) {
    set_field(exchange, "Upload-Limit", limits_text(parts, parts.partial_uploads->keep_s()));
    return exchange.answer(413);
  }
  PartSteps steps(exchange, parts, PartialState::Protocol::kParts);
  if (!steps.begin(name, length)) return;
  const std::string address = fmt::format("/{}{}", kPartsPaths, steps.upload().id());
  set_field(exchange, "Location", address);
  if (fields.takes_interim)
    send_interim(exchange, fmt::format("Location: {}\r\nUpload-Limit: {}\r\n", address,
                                       limits_text(parts, steps.upload().left_s())));
  append_part(exchange, parts, steps, fields, 201);
  const bool can_go_on = fields.takes_interim || !*fields.completes;
  if (!can_go_on && !steps.state().is_complete) steps.upload().remove();
}

void append_to(Exchange& exchange, Parts& parts, std::string_view id) {
  PartFields fields(exchange.head());
  if (!http::has_media_type(exchange.head(), kPartialUpload)) {
    set_field(exchange, "Accept-Patch", std::string(kPartialUpload));
    return exchange.answer(415);
  }
  if (!fields.completes || !fields.offset) return exchange.answer(400);
  const http::RequestHead& head = exchange.head();
  if (head.is_1_0() && head.body().kind == http::Body::Kind::kNone) return exchange.answer(411);
  PartSteps steps(exchange, parts, PartialState::Protocol::kParts);
  if (!steps.open(id, PartialUploads::For::kAppend)) return;
  PartialUpload& upload = steps.upload();
  const std::uint64_t offset = upload.offset_bytes();
  set_field(exchange, "Upload-Offset", std::to_string(offset));
  if (upload.state().is_complete && !head.body().is_empty()) return refuse_length(exchange);
  if (upload.state().is_complete)
    return answer_problem(exchange, 400, "completed-upload", "the upload is complete already");
  if (*fields.offset != offset) return refuse_offset(exchange, offset, *fields.offset);
  const auto told = fields.told_length(offset);
  const auto known = upload.state().length_bytes;
  const auto length = known ? known : told;
  if (!fields.is_consistent || (told && told != length) ||
      (length && offset + fields.content.value_or(0) > *length))
    return refuse_length(exchange);
  if (std::max(length.value_or(0), offset + fields.content.value_or(0)) >
      parts.most_upload_bytes()) {
    tell_limits(exchange, parts, upload);
    return exchange.answer(413);
  }
  if (length != known && !upload.set_length(*length)) return exchange.answer(507);
  append_part(exchange, parts, steps, fields, 204);
}

void tell_offset(Exchange& exchange, Parts& parts, std::string_view id) {
  PartSteps steps(exchange, parts, PartialState::Protocol::kParts);
  if (!steps.open(id, PartialUploads::For::kLook)) return;
  const PartialUpload& upload = steps.upload();
  tell_limits(exchange, parts, upload);
  http::AnswerHead head = exchange.begin(204);
  head.field("Upload-Offset", upload.offset_bytes())
      .field("Upload-Complete", upload.state().is_complete ? "?1" : "?0")
      .field("Cache-Control", "no-store");
  if (const auto length = upload.state().length_bytes) head.field("Upload-Length", *length);
  exchange.connection().send(head.finish());
}

void cancel_parts(Exchange& exchange, Parts& parts, std::string_view id) {
  PartSteps steps(exchange, parts, PartialState::Protocol::kParts);
  if (!steps.open(id, PartialUploads::For::kLook)) return;
  steps.upload().remove();
  exchange.connection().send(exchange.begin(204).finish());
}

}  // namespace

bool comes_in_parts(const Exchange& exchange, const Parts& parts) {
  if (parts.partial_uploads == nullptr) return false;
  return PartFields(exchange.head()).completes.has_value();
}

void put_in_parts(Exchange& exchange, Parts& parts) {
  if (exchange.path()->ends_with_slash) return exchange.answer(409);
  const std::string name(exchange.path()->name);
  begin_parts(exchange, parts, name);
}

void take_part(Exchange& exchange, Parts& parts) {
  const http::Path& path = *exchange.path();
  const std::string rest(path.name.substr(std::min(kPartsPaths.size(), path.name.size())));
  switch (exchange.method()) {
    case Method::kPost:
    case Method::kPut: break;
    case Method::kHead: return tell_offset(exchange, parts, rest);
    case Method::kPatch: return append_to(exchange, parts, rest);
    default: return cancel_parts(exchange, parts, rest);
  }
  if (!path.ends_with_slash) return begin_parts(exchange, parts, rest);
  const auto last = http::disposition_name(exchange.head());
  if (!last || last->find('/') != std::string::npos) return exchange.answer(400);
  begin_parts(exchange, parts, joined(rest, *last));
}

void tell_of_parts(http::AnswerHead& head, const Parts& parts) {
  head.field("Accept-Patch", kPartialUpload)
      .field("Upload-Limit", limits_text(parts, parts.partial_uploads->keep_s()));
}

}  // namespace fileserver
