#include "fileserver/http/methods.h"

#include <sys/stat.h>

#include <algorithm>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/waits.h"
#include "fileserver/http/change_folder.h"
#include "fileserver/http/dav/body.h"
#include "fileserver/http/dav/destination.h"
#include "fileserver/http/dav/lock_check.h"
#include "fileserver/http/dav/lock_xml.h"
#include "fileserver/http/dav/property_request.h"
#include "fileserver/http/exchange.h"
#include "fileserver/http/still_allowed.h"
#include "fileserver/http/upload_checks.h"
#include "fileserver/parts.h"
#include "http/if_header.h"

namespace fileserver::dav {

namespace {

using http::Field;

// Nothing for kOne too: a lock is of a resource alone, or of all below it.
std::optional<Lock::Depth> lock_depth_of(const http::RequestHead& head) {
  const auto depth = depth_of(head);
  if (depth == Depth::kZero) return Lock::Depth::kZero;
  if (depth == Depth::kInfinity) return Lock::Depth::kInfinity;
  return {};
}

// What the head of a LOCK asks for, kept while the body is read.
struct Asked {
  Asked(const http::RequestHead& head, std::int64_t now_ns)
      : asked_ns(now_ns),
        depth(lock_depth_of(head)),
        seconds(std::clamp<std::int64_t>(
            http::parse_timeout(head.value(Field::kTimeout)).value_or(kMaxLockSeconds), 1,
            kMaxLockSeconds)),
        tokens(submitted_tokens(head)),
        masked_password(masked_password_of(RequestCredentials(head))),
        kept(head) {}

  const std::int64_t asked_ns;
  const std::optional<Lock::Depth> depth;  // nothing: malformed
  const std::int64_t seconds;
  const std::vector<std::string> tokens;
  const std::string masked_password;
  const KeptHead kept;
};

// A lock that was made, or why not.
struct Locked {
  Lock lock;
  UploadStatus file;  // kGoOn: there was something of that name already
};
struct MissingToken {
  Locks::Conflict conflict;  // the lock of the folder, which would get the name
};
using Result = std::variant<Locked, MissingToken, Locks::Conflict, Locks::TooMany, UploadStatus>;

enum class Found { kNothing, kFile, kFolder };

Found find(const Parts& parts, std::string_view name) {
  if (name.empty()) return Found::kFolder;
  const auto status = parts.fence->status_of_readable(name);
  if (!status) return Found::kNothing;
  return S_ISDIR(status->st_mode) ? Found::kFolder : Found::kFile;
}

// Makes an empty file, unless something has got the name by now.
UploadStatus make_file(Parts& parts, std::string_view name) {
  bool is_there = false;
  const auto is_new = [&](const FileVersion* current) {
    is_there = current != nullptr;
    return !is_there;
  };
  Upload upload = parts.uploads->begin(name, 0, is_new);
  const UploadStatus begun = upload.status();
  const UploadStatus done = begun == UploadStatus::kGoOn
                                ? parts.uploads->publish(std::move(upload), is_new).status
                                : begun;
  return done == UploadStatus::kNotAllowed && is_there ? UploadStatus::kGoOn : done;
}

// The lock is made first, so that of two that want a new name one gets it. May block.
Result make(const http::Path& path, Parts& parts, Lock wanted, const Asked& asked,
            StillAllowed& still_allowed) {
  if (!still_allowed.holds()) return UploadStatus::kNotAllowed;
  wanted.name = name_for_locks(parts, path.name);
  wanted.asked = path.name;
  const Found found = find(parts, path.name);
  if (path.ends_with_slash && found != Found::kFolder) return UploadStatus::kConflict;
  wanted.is_folder = found == Found::kFolder;
  if (found == Found::kNothing) {
    auto conflict = in_the_way_of(parts, {.name = wanted.name, .is_of_members = true}, wanted.user,
                                  asked.tokens, wanted.made_ns);
    if (conflict) return MissingToken{std::move(*conflict)};
  }
  auto added = parts.locks.add(wanted, asked.masked_password);
  while (auto* const conflict = std::get_if<Locks::Conflict>(&added)) {
    if (conflict->user == wanted.user || !has_left(parts, conflict->user))
      return std::move(*conflict);
    added = parts.locks.add(wanted, asked.masked_password);
  }
  auto* const lock = std::get_if<Lock>(&added);
  if (lock == nullptr) return Locks::TooMany{};
  // Whoever has changed the rights since has looked for locks before this one was there.
  if (!may_have(parts.rights.of(lock->user), *lock)) {
    parts.locks.remove(lock->token, lock->name, lock->user, lock->made_ns);
    return UploadStatus::kForbidden;
  }
  if (found != Found::kNothing) return Locked{std::move(*lock), UploadStatus::kGoOn};
  const UploadStatus file = make_file(parts, path.name);
  if (file == UploadStatus::kCreated || file == UploadStatus::kGoOn)
    return Locked{std::move(*lock), file};
  parts.locks.remove(lock->token, lock->name, lock->user, lock->made_ns);
  return file;
}

void answer_lock(Exchange& exchange, http::Status status, const Lock& made, bool is_made) {
  const Lock lock = as_told(made, exchange.rights, exchange.path()->name);
  http::AnswerHead head = exchange.begin(status);
  if (is_made) head.field("Lock-Token", "<" + lock.token + ">");
  exchange.send_text(head, kXmlType, lock_document(lock, base::now_ns()));
}

void make_and_answer(Exchange& exchange, Parts& parts, const Asked& asked, LockInfo info) {
  const http::Path& path = *exchange.path();
  const std::int64_t now_ns = base::now_ns();
  const Lock wanted{.scope = info.scope,
                    .depth = *asked.depth,
                    .user = exchange.user,
                    .owner_xml = std::move(info.owner_xml),
                    .made_ns = now_ns,
                    .ends_ns = now_ns + asked.seconds * base::kNsPerS};
  StillAllowed still_allowed(exchange, parts, *asked.kept);
  const Result result =
      base::may_block_long([&] { return make(path, parts, wanted, asked, still_allowed); });
  if (const auto* const locked = std::get_if<Locked>(&result)) {
    const bool is_new = locked->file == UploadStatus::kCreated;
    answer_lock(exchange, is_new ? http::Status(201) : http::Status(200), locked->lock, true);
  } else if (const auto* const missing = std::get_if<MissingToken>(&result)) {
    answer_locked(exchange, "lock-token-submitted",
                  as_told(missing->conflict, exchange.rights, path.name));
  } else if (const auto* const conflict = std::get_if<Locks::Conflict>(&result)) {
    answer_locked(exchange, "no-conflicting-lock", as_told(*conflict, exchange.rights, path.name));
  } else if (const auto* const failed = std::get_if<UploadStatus>(&result)) {
    answer_change(exchange, parts, still_allowed, *failed);
  } else {
    exchange.answer(503);
  }
}

// Gives the first lock of the user whose token is in If a new end.
void refresh(Exchange& exchange, Parts& parts, const Asked& asked) {
  if (asked.tokens.empty()) return exchange.answer(400);
  const std::string name =
      base::may_block([&] { return name_for_locks(parts, exchange.path()->name); });
  const std::int64_t now_ns = base::now_ns();
  for (const std::string& token : asked.tokens) {
    const auto lock =
        parts.locks.refresh(token, name, exchange.user, now_ns,
                            now_ns + asked.seconds * base::kNsPerS, asked.masked_password);
    if (lock) return answer_lock(exchange, 200, *lock, false);
  }
  exchange.answer(412);
}

void lock_and_answer(Exchange& exchange, Parts& parts, const Asked& asked) {
  const auto body = read_xml(exchange);
  if (!body) return;
  if (!body->root) return refresh(exchange, parts, asked);
  if (!asked.depth) return exchange.answer(400);
  // Nobody keeps others from writing where he may not write himself.
  const bool is_deep = *asked.depth == Lock::Depth::kInfinity;
  if (is_deep && !exchange.rights.may_write_all(exchange.path()->name)) return exchange.answer(403);
  auto info = parse_lock_info(*body->root);
  if (const auto* const refused = std::get_if<http::Status>(&info))
    return exchange.answer(*refused);
  make_and_answer(exchange, parts, asked, std::get<LockInfo>(std::move(info)));
}

void unlock_and_answer(Exchange& exchange, Parts& parts) {
  const auto token = http::parse_lock_token(exchange.head().value(Field::kLockToken));
  if (!token) return exchange.answer(400);
  const std::string name =
      base::may_block([&] { return name_for_locks(parts, exchange.path()->name); });
  switch (parts.locks.remove(*token, name, exchange.user, base::now_ns())) {
    case Locks::Unlocked::kUnknown: return exchange.answer(409);
    case Locks::Unlocked::kOfOtherUser: return exchange.answer(403);
    case Locks::Unlocked::kDone: break;
  }
  exchange.connection().send(exchange.begin(204).finish());
}

}  // namespace

// A file that a lock has made is a put of no bytes.
void lock(Exchange& exchange, Parts& parts) {
  exchange.verb = telemetry::Verb::kChange;
  const Asked asked(exchange.head(), parts.time_for_log());
  lock_and_answer(exchange, parts, asked);
  if (!exchange.status()) return;
  const bool has_made_file = *exchange.status() == http::Status(201);
  log_change(exchange, parts,
             {.asked_ns = asked.asked_ns, .change = has_made_file ? Change::kPut : Change::kLock});
}

void unlock(Exchange& exchange, Parts& parts) {
  exchange.verb = telemetry::Verb::kChange;
  const std::int64_t asked_ns = parts.time_for_log();
  unlock_and_answer(exchange, parts);
  log_change(exchange, parts, {.asked_ns = asked_ns, .change = Change::kUnlock});
}

}  // namespace fileserver::dav
