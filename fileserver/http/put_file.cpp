#include "fileserver/http/methods.h"

#include <optional>
#include <string>
#include <variant>

#include "base/waits.h"
#include "fileserver/http/change_folder.h"
#include "fileserver/http/dav/lock_check.h"
#include "fileserver/http/exchange.h"
#include "fileserver/http/request_body.h"
#include "fileserver/http/still_allowed.h"
#include "fileserver/http/upload_checks.h"
#include "fileserver/http/upload_parts.h"
#include "fileserver/parts.h"
#include "http/date.h"

namespace fileserver {

namespace {

using http::Field;

// What is reserved on the disk before the body comes. A small body that is on its way already finds
// a full disk as early by being written, and a reservation costs it a tenth of its time.
std::uint64_t room_for(const http::RequestHead& head) {
  constexpr std::uint64_t kSmallBytes = 64 << 10;
  const std::uint64_t size = announced_size(head.body()).value_or(0);
  return size > kSmallBytes || head.expects_continue() ? size : 0;
}

// In HTTP/1.0 the end of the connection may end a body, so that nobody knows whether it is whole.
bool lacks_length(const http::RequestHead& head) {
  return head.is_1_0() && head.body().kind == http::Body::Kind::kNone;
}

// What is wrong with the request before anything else is looked at.
Refusal refusal_of(const Exchange& exchange) {
  const http::RequestHead& head = exchange.head();
  if (lacks_length(head)) return http::Status(411);
  // Somebody who means a part of the file would lose the rest of it.
  if (head.has(Field::kContentRange)) return http::Status(400);
  if (head.has(Field::kXOcMtime) && !http::parse_upload_time(head.value(Field::kXOcMtime)))
    return http::Status(400);
  return head.has(Field::kContentEncoding) ? Refusal(http::Status(415)) : std::nullopt;
}

}  // namespace

void answer_published(Exchange& exchange, const Parts& parts, const Uploads::Published& published,
                      std::optional<http::Status> done) {
  const bool is_new = published.status == UploadStatus::kCreated;
  if (!is_new && published.status != UploadStatus::kReplaced)
    return answer_change(exchange, parts, published.status);
  const http::EntityTag tag(static_cast<std::uint64_t>(published.version.size_bytes),
                            published.version.modified_ns);
  const http::Status status = done.value_or(is_new ? http::Status(201) : http::Status(204));
  http::AnswerHead head = exchange.begin(status);
  head.field("ETag", tag.view());
  if (published.has_asked_time) head.field("X-OC-Mtime", "accepted");
  if (status == 201) head.field("Content-Length", std::uint64_t{0});
  exchange.connection().send(head.finish());
}

namespace {

// Notes how far the body has come.
void note_piece(std::string_view piece, const Parts& parts, serve::SizedReply& received) {
  received.sent_bytes += piece.size();
  received.last_byte_ns = parts.time_for_log();
  if (received.first_byte_ns == 0) received.first_byte_ns = received.last_byte_ns;
}

// What an upload is held against, when it begins and when it is complete.
struct Checks {
  Checks(Exchange& upload_of, Parts& all_parts)
      : exchange(upload_of),
        parts(all_parts),
        head(exchange.head()),
        digests(*head),
        locks(exchange, parts),
        still_allowed(exchange, parts, *head),
        conditions(conditions_of(*head, exchange.connection().now_s())),
        name(exchange.path()->name) {}

  // May block.
  bool allow(const FileVersion* current) {
    if (exchange.guest) return allow_guest(current);
    return still_allowed.holds() && locks.allow(current == nullptr) && conditions(current);
  }

  // A guest replaces nothing, and is not told what is there.
  bool allow_guest(const FileVersion* current) {
    is_taken = false;
    if (!still_allowed.holds()) return false;
    is_taken = current != nullptr || refusal_to_put(rights_of(exchange, parts), name);
    if (is_taken || !locks.allow(name, true) || !conditions(nullptr)) return false;
    if (is_complete && !has_use) {
      use_refused = refusal_of_use(exchange, parts);
      has_use = !use_refused;
    }
    return !use_refused;
  }

  // Whether something has the name, so that the file of a guest is to get another one: `name`.
  bool gives_way(UploadStatus status) {
    const bool is_in_the_way = (status == UploadStatus::kNotAllowed && is_taken) ||
                               (status == UploadStatus::kConflict && !has_use);
    if (!exchange.guest || !is_in_the_way || tries == kMostNames) return false;
    name = other_name(exchange.path()->name, ++tries);
    return true;
  }
  std::string_view last_part() const { return std::string_view(name).substr(name.rfind('/') + 1); }

  static constexpr int kMostNames = 24;

  Exchange& exchange;
  Parts& parts;
  const KeptHead head;
  DigestCheck digests;
  dav::PutLocks locks;
  StillAllowed still_allowed;
  const MayChange conditions;
  std::string name;          // that the file is to get
  int tries = 0;             // other names
  bool is_taken = false;     // the name, where that is in the way
  bool is_complete = false;  // the body
  bool has_use = false;
  Refusal use_refused = {};
};

// A status, or what became of the upload. If it was not published, its bytes take no room any more.
using Stored = std::variant<http::Status, Uploads::Published>;

// Notes in `received` how far the body has come, and in `checks` what is in the way.
Stored store(Exchange& exchange, Parts& parts, Checks& checks, serve::SizedReply& received) {
  const http::RequestHead& head = *checks.head;
  const auto may_change = [&](const FileVersion* current) { return checks.allow(current); };
  const auto begin = [&] { return parts.uploads->begin(checks.name, room_for(head), may_change); };
  Upload upload = base::may_block_long(begin);
  while (checks.gives_way(upload.status())) upload = base::may_block_long(begin);
  if (upload.status() != UploadStatus::kGoOn) return Uploads::Published{upload.status()};
  if (const auto time_s = http::parse_upload_time(head.value(Field::kXOcMtime)))
    upload.ask_for_time(*time_s);
  const auto take = [&](std::string_view piece) -> Refusal {
    checks.digests.add(piece);
    note_piece(piece, parts, received);
    if (base::may_block_long([&] { return upload.write(piece); }) == UploadStatus::kGoOn) return {};
    return http::Status(507);
  };
  const Refusal refusal = read_body(exchange, parts.most_upload_bytes(), take);
  if (upload.status() != UploadStatus::kGoOn) return Uploads::Published{upload.status()};
  if (refusal) return *refusal;
  if (!checks.digests.holds()) return http::Status(400);
  checks.is_complete = true;
  for (;;) {
    const auto published =
        base::may_block_long([&] { return parts.uploads->publish(upload, may_change); });
    if (!checks.gives_way(published.status)) return published;
    upload.call(checks.last_part());
  }
}

void store_and_answer(Exchange& exchange, Parts& parts, serve::SizedReply& received) {
  if (const Refusal refusal = refusal_of(exchange)) return exchange.answer(*refusal);
  Checks checks(exchange, parts);
  if (checks.digests.is_malformed()) return exchange.answer(400);
  if (exchange.path()->ends_with_slash) return exchange.answer(409);
  if (announced_size(exchange.head().body()).value_or(0) > parts.most_upload_bytes())
    return exchange.answer(413);
  const Stored stored = store(exchange, parts, checks, received);
  if (exchange.guest) exchange.aim_at(checks.name, false);
  if (checks.still_allowed.answers_refusal(exchange)) return;
  if (checks.use_refused) return exchange.answer(*checks.use_refused);
  if (const auto& conflict = checks.locks.conflict())
    return dav::answer_locked(exchange, "lock-token-submitted", *conflict);
  if (const auto* const status = std::get_if<http::Status>(&stored))
    return exchange.answer(*status);
  answer_published(exchange, parts, std::get<Uploads::Published>(stored));
}

void drop_and_answer(Exchange& exchange, Parts& parts, serve::SizedReply& received) {
  if (lacks_length(exchange.head())) return exchange.answer(411);
  const auto drop = [&](std::string_view piece) -> Refusal {
    note_piece(piece, parts, received);
    return {};
  };
  if (const Refusal refusal = read_body(exchange, parts.most_upload_bytes(), drop))
    return exchange.answer(*refusal);
  exchange.connection().send(exchange.begin(204).finish());
}

}  // namespace

void put_file(Exchange& exchange, Parts& parts) {
  if (comes_in_parts(exchange, parts)) return put_in_parts(exchange, parts);
  exchange.verb = telemetry::Verb::kPut;
  Transfer transfer{.asked_ns = parts.time_for_log(), .change = Change::kPut};
  store_and_answer(exchange, parts, transfer.reply);
  transfer.size_bytes = transfer.reply.sent_bytes;
  log_change(exchange, parts, transfer);
}

void put_nowhere(Exchange& exchange, Parts& parts) {
  exchange.verb = telemetry::Verb::kPut;
  Transfer transfer{.asked_ns = parts.time_for_log(), .change = Change::kPut};
  drop_and_answer(exchange, parts, transfer.reply);
  transfer.size_bytes = transfer.reply.sent_bytes;
  if (exchange.path()) log_change(exchange, parts, transfer);
}

}  // namespace fileserver
