#include "fileserver/http/change_folder.h"

#include "base/waits.h"
#include "fileserver/http/dav/lock_check.h"
#include "fileserver/http/exchange.h"
#include "fileserver/http/methods.h"
#include "fileserver/parts.h"

namespace fileserver {

namespace {

// An answer without a body.
void answer_done(Exchange& exchange, http::Status status) {
  http::AnswerHead head = exchange.begin(status);
  if (status == 201) head.field("Content-Length", std::uint64_t{0});
  exchange.connection().send(head.finish());
}

}  // namespace

// The tag is taken as the strong one, though the version may not be settled: clients get a strong
// tag of settled versions and of uploads only. So an upload may be replaced by its tag at once.
MayChange conditions_of(const http::RequestHead& head, std::int64_t now_s) {
  return [&head, now_s](const FileVersion* current) {
    if (current == nullptr) return http::evaluate(head, nullptr, now_s) == http::Verdict::kGoOn;
    const http::Validators validators(static_cast<std::uint64_t>(current->size_bytes),
                                      current->modified_ns, now_s);
    return http::evaluate(head, &validators, now_s) == http::Verdict::kGoOn;
  };
}

MayChange conditions_of(Exchange& exchange, StillAllowed& still_allowed) {
  return
      [&still_allowed, conditions = conditions_of(exchange.head(), exchange.connection().now_s())](
          const FileVersion* current) { return still_allowed.holds() && conditions(current); };
}

void answer_change(Exchange& exchange, const Parts& parts, const StillAllowed& still_allowed,
                   UploadStatus status) {
  if (!still_allowed.answers_refusal(exchange)) answer_change(exchange, parts, status);
}

void answer_change(Exchange& exchange, const Parts& parts, UploadStatus status) {
  switch (status) {
    case UploadStatus::kCreated: return answer_done(exchange, 201);
    case UploadStatus::kReplaced: return answer_done(exchange, 204);
    case UploadStatus::kNotFound: return exchange.answer(404);
    case UploadStatus::kExists:
      return exchange.answer_not_allowed(allowed_with(parts.offer, exchange.method()));
    case UploadStatus::kConflict: return exchange.answer(409);
    case UploadStatus::kForbidden: return exchange.answer(403);
    case UploadStatus::kNotAllowed: return exchange.answer(412);
    case UploadStatus::kNoSpace: return exchange.answer(507);
    case UploadStatus::kGoOn:
    case UploadStatus::kFailed: return exchange.answer(500);
  }
}

void delete_file(Exchange& exchange, Parts& parts) {
  exchange.verb = telemetry::Verb::kChange;
  const std::int64_t asked_ns = parts.time_for_log();
  const http::Path& path = *exchange.path();
  StillAllowed still_allowed(exchange, parts, exchange.head());
  const auto may_change = conditions_of(exchange, still_allowed);
  answer_change(exchange, parts, still_allowed, base::may_block_long([&] {
                  const dav::LocksOfName locks(parts, path.name);
                  const UploadStatus done = parts.uploads->remove(path.name, may_change);
                  if (done == UploadStatus::kReplaced) locks.forget();
                  return done;
                }));
  log_change(exchange, parts, {.asked_ns = asked_ns, .change = Change::kDelete});
}

void make_collection(Exchange& exchange, Parts& parts) {
  exchange.verb = telemetry::Verb::kChange;
  if (!exchange.head().body().is_empty()) return exchange.answer(415);
  const std::int64_t asked_ns = parts.time_for_log();
  answer_change(exchange, parts, base::may_block_long([&] {
                  return parts.uploads->make_folder(exchange.path()->name);
                }));
  log_change(exchange, parts, {.asked_ns = asked_ns, .change = Change::kMkcol});
}

}  // namespace fileserver
