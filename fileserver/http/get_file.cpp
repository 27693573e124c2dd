#include "fileserver/http/methods.h"

#include <sodium.h>

#include "fileserver/http/exchange.h"
#include "fileserver/http/exchange_lines.h"
#include "fileserver/http/file_digest.h"
#include "fileserver/parts.h"
#include "http/conditions.h"
#include "http/content_type.h"
#include "http/digest.h"
#include "http/multipart.h"
#include "http/range.h"

namespace fileserver {

namespace {

using http::Field;

std::uint64_t random_number() {
  std::uint64_t number = 0;
  ::randombytes_buf(&number, sizeof number);
  return number;
}

std::uint64_t bytes_of(const std::vector<http::ByteRange>& parts) {
  std::uint64_t bytes = 0;
  for (const http::ByteRange& part : parts) bytes += part.size_bytes();
  return bytes;
}

// The answer to a request for a file that was opened.
class FileAnswer {
 public:
  FileAnswer(Exchange& exchange, Parts& parts, const OpenedFile& file)
      : exchange_(exchange),
        parts_(parts),
        file_(file),
        type_(http::content_type_of(file.name)),
        now_s_(exchange.connection().now_s()),
        validators_(file.size_bytes(), file.version.modified_ns, now_s_,
                    file.was_settled ? http::Strength::kStrong : http::Strength::kWeak) {}

  void send() {
    switch (http::evaluate(exchange_.head(), &validators_, now_s_)) {
      case http::Verdict::kPreconditionFailed: return exchange_.answer(412);
      case http::Verdict::kNotModified: return send_not_modified();
      case http::Verdict::kGoOn: break;
    }
    http::Ranges ranges = wanted();
    const bool is_use = exchange_.method() == http::Method::kGet &&
                        ranges.kind != http::Ranges::Kind::kUnsatisfiable;
    if (const auto refused = is_use ? refusal_of_use(exchange_, parts_) : std::nullopt)
      return exchange_.answer(*refused);
    switch (ranges.kind) {
      case http::Ranges::Kind::kWhole: return send_whole();
      case http::Ranges::Kind::kUnsatisfiable: return send_unsatisfiable();
      case http::Ranges::Kind::kParts:
        ranges_ = std::move(ranges.parts);
        return ranges_.size() == 1 ? send_part(ranges_[0]) : send_parts(ranges_);
    }
  }

  // Those that were sent; empty of a whole file.
  const std::vector<http::ByteRange>& ranges() const { return ranges_; }

 private:
  http::Ranges wanted() const {
    const std::string_view range = exchange_.head().value(Field::kRange);
    if (exchange_.method() != http::Method::kGet || range.empty() ||
        !http::if_range_holds(exchange_.head(), validators_))
      return {};
    return http::parse_ranges(range, file_.size_bytes());
  }

  http::AnswerHead begin(http::Status status) {
    http::AnswerHead head = exchange_.begin(status);
    head.field("ETag", validators_.tag.view()).field("Cache-Control", "private, no-cache");
    if (validators_.modified)
      head.field("Last-Modified", http::date_text(*validators_.modified).view());
    return head;
  }

  // Of an answer that has the file or parts of it.
  http::AnswerHead begin_with_digest(http::Status status) {
    std::optional<base::Sha256Digest> digest;
    // The digest of a short file tells what is in it.
    const bool is_without_use = exchange_.method() == http::Method::kHead && counts_uses(exchange_);
    if (http::wants_sha256(exchange_.head()) && !is_without_use) {
      if (auto computed = digest_for(exchange_, parts_, file_)) digest = *computed;
    }
    http::AnswerHead head = begin(status);
    if (digest) head.field("Repr-Digest", http::DigestText(*digest).view());
    return head;
  }

  // Of a part or of the whole file.
  void add_body_fields(http::AnswerHead& head, std::string_view type, std::uint64_t size) const {
    head.field("Content-Type", type)
        .field("Content-Length", size)
        .field("Accept-Ranges", "bytes")
        .field("X-Content-Type-Options", "nosniff");
    if (type_.is_active) head.field("Content-Security-Policy", "sandbox");
  }

  void send_not_modified() { exchange_.connection().send(begin(304).finish()); }

  void send_whole() {
    http::AnswerHead head = begin_with_digest(200);
    add_body_fields(head, type_.value, file_.size_bytes());
    if (exchange_.method() == http::Method::kHead) {
      exchange_.connection().send(head.finish());
    } else {
      send_bytes(head.finish(), {0, file_.size_bytes()});
    }
  }

  void send_part(const http::ByteRange& part) {
    http::AnswerHead head = begin_with_digest(206);
    head.content_range(part, file_.size_bytes());
    add_body_fields(head, type_.value, part.size_bytes());
    send_bytes(head.finish(), {part.begin, part.size_bytes()});
  }

  void send_bytes(std::string_view head, FileRange range) {
    exchange_.stream().begin_sized_reply(range.size_bytes);
    fileserver::send(exchange_.stream(), head, file_, range);
  }

  void send_parts(const std::vector<http::ByteRange>& parts) {
    const http::Multipart multipart(random_number(), type_.value, file_.size_bytes());
    const std::uint64_t size = multipart.size_bytes(parts);
    http::AnswerHead head = begin_with_digest(206);
    add_body_fields(head, multipart.content_type(), size);
    exchange_.connection().send(head.finish());
    // The heads of the parts are no bytes of the file.
    exchange_.stream().begin_sized_reply(bytes_of(parts));
    bool is_first = true;
    for (const http::ByteRange& part : parts) {
      const std::string part_head = multipart.part_head(part, std::exchange(is_first, false));
      fileserver::send(exchange_.stream(), part_head, file_, {part.begin, part.size_bytes()});
    }
    exchange_.stream().send(multipart.end());
  }

  void send_unsatisfiable() {
    http::AnswerHead head = begin(416);
    head.content_range_unsatisfiable(file_.size_bytes());
    exchange_.send_text(head, "text/plain; charset=utf-8", "Range Not Satisfiable\n");
  }

  Exchange& exchange_;
  Parts& parts_;
  const OpenedFile& file_;
  const http::ContentType type_;
  const std::int64_t now_s_;
  const http::Validators validators_;
  std::vector<http::ByteRange> ranges_;
};

// HEAD sends no file, and has no line.
void log_get(Exchange& exchange, Parts& parts, Transfer transfer) {
  if (exchange.method() != http::Method::kGet) return;
  if (!transfer.error) transfer.reply = exchange.stream().sized_reply();
  log_transfer(exchange, parts, transfer);
}

void send_file(Exchange& exchange, Parts& parts, std::int64_t asked_ns, const OpenedFile& file) {
  FileAnswer answer(exchange, parts, file);
  answer.send();
  if (exchange.status() != http::Status(200) && exchange.status() != http::Status(206)) return;
  Transfer transfer{.asked_ns = asked_ns, .size_bytes = file.size_bytes()};
  transfer.set_ranges(answer.ranges());
  log_get(exchange, parts, transfer);
}

}  // namespace

void get_nothing(Exchange& exchange, Parts& parts) {
  exchange.verb = telemetry::Verb::kFile;
  const std::int64_t asked_ns = parts.time_for_log();
  exchange.answer(404);
  if (exchange.path()->ends_with_slash) return;
  log_transfer(exchange, parts, {.asked_ns = asked_ns, .error = base::ErrorCode::kNotFound});
}

void get_file(Exchange& exchange, Parts& parts) {
  exchange.verb = telemetry::Verb::kFile;
  const std::int64_t asked_ns = parts.time_for_log();
  const auto opened = parts.files->open(exchange.path()->name);
  if (opened) return send_file(exchange, parts, asked_ns, *opened);
  if (is_folder_without_slash(exchange, parts)) return redirect_to_folder(exchange);
  exchange.answer(opened.error());
  log_get(exchange, parts, {.asked_ns = asked_ns, .error = opened.error().code});
}

}  // namespace fileserver
