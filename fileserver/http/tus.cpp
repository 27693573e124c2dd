#include <algorithm>
#include <ctime>
#include <string>

#include "fileserver/http/exchange.h"
#include "fileserver/http/part_steps.h"
#include "fileserver/http/upload_parts.h"
#include "fileserver/parts.h"
#include "http/date.h"
#include "http/upload_fields.h"

namespace fileserver {

namespace {

using http::Field;
using http::Method;

constexpr std::string_view kTusVersion = "1.0.0";
constexpr std::string_view kOffsetStream = "application/offset+octet-stream";
constexpr std::size_t kMostMetadataBytes = 8 << 10;

void add_field(Exchange& exchange, std::string_view name, std::string value) {
  exchange.further_fields.emplace_back(name, std::move(value));
}

void tell_expiry(Exchange& exchange, const PartialUpload& upload) {
  add_field(exchange, "Upload-Expires",
            std::string(http::date_text(std::time(nullptr) + upload.left_s()).view()));
}

void answer_empty(Exchange& exchange, http::Status status) {
  http::AnswerHead head = exchange.begin(status);
  if (status != 204) head.field("Content-Length", std::uint64_t{0});
  exchange.connection().send(head.finish());
}

// Appends the body. The last byte gives the file its name.
void append_stream(Exchange& exchange, PartSteps& steps, http::Status done) {
  DigestCheck checksum(http::parse_checksum(steps.head()));
  if (checksum.is_malformed()) return exchange.answer(400);
  PartialUpload& upload = steps.upload();
  const Refusal refusal = steps.take_body(steps.left_bytes(), checksum);
  add_field(exchange, "Upload-Offset", std::to_string(upload.offset_bytes()));
  if (steps.has_wrong_digest()) return exchange.answer(460);
  if (refusal) return exchange.answer(*refusal);
  tell_expiry(exchange, upload);
  if (upload.offset_bytes() < *upload.state().length_bytes) return answer_empty(exchange, done);
  steps.publish(done);
}

void create_tus(Exchange& exchange, Parts& parts, std::string_view folder) {
  const http::RequestHead& head = exchange.head();
  const auto length = http::parse_count_item(head.value(Field::kUploadLength));
  const std::string_view metadata = head.value(Field::kUploadMetadata);
  const auto name = http::metadata_value(metadata, "filename");
  if (!length || head.has(Field::kUploadDeferLength) || !name || name->empty() ||
      metadata.size() > kMostMetadataBytes)
    return exchange.answer(400);
  if (*length > parts.most_upload_bytes()) return exchange.answer(413);
  const bool has_stream = http::has_media_type(head, kOffsetStream);
  if (!has_stream && !head.body().is_empty()) return exchange.answer(415);
  if (announced_size(head.body()).value_or(0) > *length) return exchange.answer(413);
  PartSteps steps(exchange, parts, PartialState::Protocol::kTus);
  if (!steps.begin(joined(folder, *name), length)) return;
  add_field(exchange, "Location", "/" + std::string(kTusPaths) + steps.upload().id());
  append_stream(exchange, steps, 201);
}

void append_tus(Exchange& exchange, Parts& parts, std::string_view id) {
  const http::RequestHead& head = exchange.head();
  const auto offset = http::parse_count_item(head.value(Field::kUploadOffset));
  if (!http::has_media_type(head, kOffsetStream)) return exchange.answer(415);
  if (!offset) return exchange.answer(400);
  PartSteps steps(exchange, parts, PartialState::Protocol::kTus);
  if (!steps.open(id, PartialUploads::For::kAppend)) return;
  PartialUpload& upload = steps.upload();
  if (*offset != upload.offset_bytes()) {
    add_field(exchange, "Upload-Offset", std::to_string(upload.offset_bytes()));
    return exchange.answer(409);
  }
  if (announced_size(head.body()).value_or(0) > steps.left_bytes()) return exchange.answer(413);
  if (upload.state().is_complete) {
    add_field(exchange, "Upload-Offset", std::to_string(upload.offset_bytes()));
    return head.body().is_empty() ? answer_empty(exchange, 204) : exchange.answer(413);
  }
  append_stream(exchange, steps, 204);
}

void tell_tus(Exchange& exchange, Parts& parts, std::string_view id) {
  PartSteps steps(exchange, parts, PartialState::Protocol::kTus);
  if (!steps.open(id, PartialUploads::For::kLook)) return;
  const PartialUpload& upload = steps.upload();
  add_field(exchange, "Upload-Offset", std::to_string(upload.offset_bytes()));
  add_field(exchange, "Upload-Length", std::to_string(*upload.state().length_bytes));
  add_field(exchange, "Cache-Control", "no-store");
  if (!upload.state().is_complete) tell_expiry(exchange, upload);
  if (std::string metadata = steps.kept_field(Field::kUploadMetadata); !metadata.empty())
    add_field(exchange, "Upload-Metadata", std::move(metadata));
  answer_empty(exchange, 200);
}

void end_tus(Exchange& exchange, Parts& parts, std::string_view id) {
  PartSteps steps(exchange, parts, PartialState::Protocol::kTus);
  if (!steps.open(id, PartialUploads::For::kLook)) return;
  steps.upload().remove();
  answer_empty(exchange, 204);
}

// A client behind a proxy that knows no PATCH says it by a POST.
Method method_of_tus(const Exchange& exchange) {
  const std::string_view meant = exchange.head().value(Field::kXHttpMethodOverride);
  if (exchange.method() != Method::kPost || meant.empty()) return exchange.method();
  return http::method_of(meant);
}

}  // namespace

void speak_tus(Exchange& exchange) {
  add_field(exchange, "Tus-Resumable", std::string(kTusVersion));
}

void take_tus(Exchange& exchange, Parts& parts) {
  if (exchange.head().value(Field::kTusResumable) != kTusVersion) {
    add_field(exchange, "Tus-Version", std::string(kTusVersion));
    return exchange.answer(412);
  }
  const http::Path& path = *exchange.path();
  const std::string rest(path.name.substr(std::min(kTusPaths.size(), path.name.size())));
  const bool is_upload = !path.ends_with_slash;
  switch (method_of_tus(exchange)) {
    case Method::kPost:
      if (is_upload) return exchange.answer(404);
      return create_tus(exchange, parts, rest);
    case Method::kHead: return tell_tus(exchange, parts, rest);
    case Method::kPatch: return append_tus(exchange, parts, rest);
    case Method::kDelete: return end_tus(exchange, parts, rest);
    default: return exchange.answer(400);
  }
}

void tell_of_tus(http::AnswerHead& head, const Parts& parts) {
  head.field("Tus-Resumable", kTusVersion)
      .field("Tus-Version", kTusVersion)
      .field("Tus-Extension", "creation,creation-with-upload,termination,checksum,expiration")
      .field("Tus-Checksum-Algorithm", "sha256");
  if (parts.offer.max_upload_bytes > 0)
    head.field("Tus-Max-Size", static_cast<std::uint64_t>(parts.offer.max_upload_bytes));
}

}  // namespace fileserver
