#include "fileserver/http/methods.h"

#include <functional>
#include <optional>
#include <string_view>

#include "base/clock.h"
#include "base/waits.h"
#include "fileserver/files/folder_removals.h"
#include "fileserver/files/moves.h"
#include "fileserver/http/change_folder.h"
#include "fileserver/http/dav/destination.h"
#include "fileserver/http/dav/lock_check.h"
#include "fileserver/http/exchange.h"
#include "fileserver/http/exchange_lines.h"
#include "fileserver/http/permitted.h"
#include "fileserver/http/server_paths.h"
#include "fileserver/parts.h"

namespace fileserver {

namespace {

using http::Field;

constexpr int kGraceMs = 1000;

enum class Verb { kMove, kCopy };

// What a request is answered that is refused.
using Refusal = std::optional<http::Status>;

// What is asked again before a change takes effect.
struct Allowed {
  bool holds() { return still.holds() && (locks == nullptr || locks->allow_whole()); }

  StillAllowed& still;
  dav::PutLocks* locks;      // of the target; null: it has none
  dav::PutLocks* of_source;  // of what is moved
};

// A copy ends when most likely nobody takes its answer any more. A removal goes on then, unless the
// server stops: what was deleted is to give back its room.
Moves::GoOn go_on(Exchange& exchange, Allowed& allowed, LongChanges::Place* place) {
  const auto grace = base::Deadline::in_ms(kGraceMs);
  return {
      .may_copy =
          [&exchange, place, grace] {
            if (place != nullptr) place->goes_on();
            return !exchange.is_hung_up() &&
                   !(grace.has_passed() && exchange.has_client_finished());
          },
      .may_remove =
          [&exchange, place] {
            if (place != nullptr) place->goes_on();
            return !exchange.stream().is_draining() || !exchange.is_hung_up();
          },
      .may_name = [&allowed] { return allowed.holds(); },
      .may_leave =
          [&allowed] { return allowed.of_source == nullptr || allowed.of_source->allow_whole(); }};
}

Refusal refusal_of_destination(const Destination& destination) {
  switch (destination.kind()) {
    case Destination::Kind::kMalformed: return http::Status(400);
    case Destination::Kind::kElsewhere: return http::Status(502);
    case Destination::Kind::kPath: break;
  }
  // A folder of the name "-" could not be listed.
  const bool is_ours = destination.path().name == "-" || server_path(destination.path()) != nullptr;
  return is_ours ? http::Status(403) : Refusal();
}

// Whether a request waits on until it may begin. When the server stops, it is refused.
std::function<bool()> may_wait(Exchange& exchange) {
  return [&exchange, grace = base::Deadline::in_ms(kGraceMs)] {
    return !exchange.stream().is_draining() && !exchange.is_hung_up() &&
           !(grace.has_passed() && exchange.has_client_finished());
  };
}

// A MOVE of a folder is always one of all that is in it.
Refusal refusal_of_depth(std::optional<CopyDepth> depth, Verb verb, const Exchange& exchange,
                         Parts& parts) {
  if (!depth) return http::Status(400);
  if (verb == Verb::kCopy || *depth == CopyDepth::kInfinity) return {};
  const bool is_folder =
      base::may_block([&] { return parts.fence->find_folder(exchange.path()->name).ok(); });
  return is_folder ? http::Status(400) : Refusal();
}

// `place` is null if it must not take long.
UploadStatus change(Exchange& exchange, Parts& parts, Verb verb, const Moves::Job& job,
                    CopyDepth depth, Allowed& allowed, LongChanges::Place* place) {
  const auto may_change = conditions_of(exchange, allowed.still);
  const auto copied = depth == CopyDepth::kZero ? Moves::Depth::kFolderOnly : Moves::Depth::kAll;
  return base::may_block_long([&] {
    Moves moves(*parts.uploads);
    const Moves::GoOn may_go_on = go_on(exchange, allowed, place);
    const dav::LocksOfName of_source(parts, job.from);
    const dav::LocksOfName of_target(parts, job.to);
    const UploadStatus done = verb == Verb::kCopy ? moves.copy(job, copied, may_change, may_go_on)
                                                  : moves.move(job, may_change, may_go_on);
    if (!is_done(done)) return done;
    if (verb == Verb::kMove) of_source.forget();
    of_target.forget_replaced();
    return done;
  });
}

bool is_target_locked(Exchange& exchange, Parts& parts, std::string_view name) {
  return dav::is_refused_by_locks(exchange, parts,
                                  {.name = name, .is_whole = true, .is_of_members = true});
}

// 423 for a lock that was made while it was copied.
void answer(Exchange& exchange, Parts& parts, const Allowed& allowed, UploadStatus done) {
  if (!is_done(done) && allowed.locks->conflict())
    return dav::answer_locked(exchange, "lock-token-submitted", *allowed.locks->conflict());
  answer_change(exchange, parts, allowed.still, done);
}

// A MOVE is most often a rename, and what is not there cannot be copied. Only what takes long waits
// for a place, and is refused without one.
void change_and_answer(Exchange& exchange, Parts& parts, Verb verb, Moves::Job job,
                       CopyDepth depth) {
  StillAllowed still_allowed(exchange, parts, exchange.head(), job.to);
  dav::PutLocks locks(exchange, parts, job.to, dav::submitted_tokens(exchange.head()));
  dav::PutLocks of_source(exchange, parts, job.from, dav::submitted_tokens(exchange.head()));
  Allowed allowed{still_allowed, &locks, &of_source};
  job.may_take_long = false;
  const UploadStatus done = change(exchange, parts, verb, job, depth, allowed, nullptr);
  if (done != UploadStatus::kGoOn) return answer(exchange, parts, allowed, done);
  job.may_take_long = true;
  LongChanges::Place place(parts.long_changes, exchange.user, may_wait(exchange));
  if (!place.is_taken()) return exchange.answer(503);
  if (dav::is_refused_by_locks(exchange, parts) || is_target_locked(exchange, parts, job.to))
    return;  // by a lock that was made while it waited
  answer(exchange, parts, allowed, change(exchange, parts, verb, job, depth, allowed, &place));
}

void delete_and_answer(Exchange& exchange, Parts& parts) {
  const std::string_view name = exchange.path()->name;
  StillAllowed still_allowed(exchange, parts, exchange.head());
  Allowed allowed{still_allowed, nullptr, nullptr};
  const auto may_change = conditions_of(exchange, still_allowed);
  const UploadStatus refused = base::may_block_long(
      [&] { return FolderRemovals(*parts.uploads).why_not(name, may_change); });
  if (refused != UploadStatus::kGoOn) return answer_change(exchange, parts, still_allowed, refused);
  LongChanges::Place place(parts.long_changes, exchange.user, may_wait(exchange));
  if (!place.is_taken()) return exchange.answer(503);
  if (dav::is_refused_by_locks(exchange, parts)) return;  // by one made while it waited
  answer_change(exchange, parts, still_allowed, base::may_block_long([&] {
                  const dav::LocksOfName locks(parts, name);
                  const UploadStatus done =
                      FolderRemovals(*parts.uploads)
                          .remove(name, may_change, go_on(exchange, allowed, &place).may_remove);
                  if (done == UploadStatus::kReplaced) locks.forget();
                  return done;
                }));
}

void move_or_copy(Exchange& exchange, Parts& parts, Verb verb) {
  exchange.verb = telemetry::Verb::kChange;
  const http::RequestHead& head = exchange.head();
  const http::Path& from = *exchange.path();
  const Destination destination(head.value(Field::kDestination), head.value(Field::kHost));
  if (const Refusal refusal = refusal_of_destination(destination)) return exchange.answer(*refusal);
  const http::Path& to = destination.path();
  const auto may_replace = parse_overwrite(head);
  if (!may_replace) return exchange.answer(400);
  const auto depth = parse_copy_depth(head);
  if (const Refusal refusal = refusal_of_depth(depth, verb, exchange, parts))
    return exchange.answer(*refusal);
  if (const Refusal refusal = refusal_of_target(exchange.rights, to.name))
    return exchange.answer(*refusal);
  if (is_target_locked(exchange, parts, to.name)) return;
  const std::int64_t asked_ns = parts.time_for_log();
  const Moves::Job job{from.name, from.ends_with_slash, to.name, to.ends_with_slash, *may_replace};
  change_and_answer(exchange, parts, verb, job, *depth);
  log_change(exchange, parts,
             {.asked_ns = asked_ns,
              .change = verb == Verb::kMove ? Change::kMove : Change::kCopy,
              .to = to.name});
}

}  // namespace

void move_name(Exchange& exchange, Parts& parts) { move_or_copy(exchange, parts, Verb::kMove); }

void copy_name(Exchange& exchange, Parts& parts) { move_or_copy(exchange, parts, Verb::kCopy); }

void delete_folder(Exchange& exchange, Parts& parts) {
  exchange.verb = telemetry::Verb::kChange;
  const std::int64_t asked_ns = parts.time_for_log();
  delete_and_answer(exchange, parts);
  log_change(exchange, parts, {.asked_ns = asked_ns, .change = Change::kDelete});
}

}  // namespace fileserver
