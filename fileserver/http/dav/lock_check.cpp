#include "fileserver/http/dav/lock_check.h"

#include <string.h>

#include <algorithm>
#include <string>
#include <utility>

#include "base/clock.h"
#include "base/waits.h"
#include "fileserver/auth/masked_password.h"
#include "fileserver/files/fence.h"
#include "fileserver/http/dav/lock_xml.h"
#include "fileserver/http/dav/property_request.h"
#include "fileserver/http/exchange.h"
#include "fileserver/parts.h"
#include "http/conditions.h"
#include "http/if_header.h"

namespace fileserver::dav {

namespace {

using http::Field;
using http::Method;

constexpr std::size_t kMostRepeatedBytes = 256;  // of a lock's owner

constexpr char kTokenMark = '\n';  // in front of a token; no password has one

bool is_denied(Parts& parts, std::string_view user, std::string_view secret) {
  base::ErrorCode failure = base::ErrorCode::kUnavailable;
  if (secret.starts_with(kTokenMark)) {
    const auto found = parts.auth.ask(wire::Token{secret.substr(1)});
    if (found) return *found != user;
    failure = found.error().code;
  } else {
    const auto status = parts.auth.ask(wire::Auth{{user, secret}});
    if (status) return false;
    failure = status.error().code;
  }
  return failure == base::ErrorCode::kDenied;
}

// Why a request is refused, if it is: its If, or a lock.
struct Verdict {
  bool is_if_false = false;
  std::optional<Locks::Conflict> conflict = {};
};

// What the method changes at the path of the request. Nothing: it changes nothing there.
std::optional<LockedChange> change_of(Method method, std::string_view name) {
  switch (method) {
    case Method::kPut:
    case Method::kProppatch: return LockedChange{.name = name};
    case Method::kMkcol: return LockedChange{.name = name, .is_of_members = true};
    case Method::kDelete:
    case Method::kMove: return LockedChange{.name = name, .is_whole = true, .is_of_members = true};
    case Method::kGet:
    case Method::kHead:
    case Method::kPost:
    case Method::kPatch:
    case Method::kOptions:
    case Method::kPropfind:
    case Method::kCopy:
    case Method::kLock:
    case Method::kUnlock:
    case Method::kConnect:
    case Method::kTrace:
    case Method::kOther: return {};
  }
  return {};
}

// Whether the file has this strong tag now. A link has none, as a change does not follow it.
bool has_tag(const Parts& parts, std::string_view name, std::string_view tag) {
  const auto status = parts.fence->status_of(name, Fence::Links::kRefused);
  if (!status) return false;
  const FileVersion version = version_in(*status);
  return tag == http::EntityTag(static_cast<std::uint64_t>(version.size_bytes), version.modified_ns)
                    .view();
}

// Of a name that the user may not read, nothing is true, as if it were not there.
bool is_true(const Exchange& exchange, const Parts& parts, std::string_view name,
             const std::optional<std::string_view>& path, const http::IfCondition& condition) {
  std::string decoded(path.value_or(std::string_view()));
  if (path) {
    const auto other = http::decode_path(*path, decoded);
    if (!other || !exchange.rights.may_read(other->name)) return false;
    name = other->name;
  }
  if (condition.kind == http::IfCondition::Kind::kTag) return has_tag(parts, name, condition.text);
  return parts.locks.has(condition.text, name_for_locks(parts, name), base::now_ns());
}

std::optional<Locks::Conflict> conflict_with(const Exchange& exchange, Parts& parts,
                                             LockedChange change) {
  const std::string_view asked = change.name;
  const std::string name = name_for_locks(parts, asked);
  change.name = name;
  auto conflict = in_the_way_of(parts, change, exchange.user, submitted_tokens(exchange.head()),
                                base::now_ns());
  if (!conflict) return {};
  return as_told(std::move(*conflict), exchange.rights, asked);
}

}  // namespace

bool has_malformed_if(const http::RequestHead& head) {
  return head.has(Field::kIf) && !http::parse_if(head.value(Field::kIf));
}

bool if_holds(const Exchange& exchange, const Parts& parts, const http::RequestHead& head,
              std::string_view name) {
  const auto header = http::parse_if(head.value(Field::kIf));
  return !header || http::holds(*header, [&](const auto& path, const auto& condition) {
    return is_true(exchange, parts, name, path, condition);
  });
}

bool is_refused_by_locks(Exchange& exchange, Parts& parts) {
  const http::RequestHead& head = exchange.head();
  const std::string_view name = exchange.path()->name;
  const auto change = change_of(exchange.method(), name);
  const bool may_be_locked = change && !parts.locks.is_empty(base::now_ns());
  if (!may_be_locked && !head.has(Field::kIf)) return false;
  if (has_malformed_if(head)) {
    exchange.answer(400);
    return true;
  }
  const Verdict verdict = base::may_block([&]() -> Verdict {
    if (!if_holds(exchange, parts, head, name)) return {.is_if_false = true};
    if (!may_be_locked) return {};
    return {.conflict = conflict_with(exchange, parts, *change)};
  });
  if (verdict.is_if_false) {
    exchange.answer(412);
  } else if (verdict.conflict) {
    answer_locked(exchange, "lock-token-submitted", *verdict.conflict);
  }
  return verdict.is_if_false || verdict.conflict;
}

bool is_refused_by_locks(Exchange& exchange, Parts& parts, const LockedChange& change) {
  if (parts.locks.is_empty(base::now_ns())) return false;
  const auto conflict = base::may_block([&] { return conflict_with(exchange, parts, change); });
  if (conflict) answer_locked(exchange, "lock-token-submitted", *conflict);
  return conflict.has_value();
}

std::optional<Locks::Conflict> in_the_way_of(Parts& parts, const LockedChange& change,
                                             std::string_view user,
                                             std::span<const std::string> tokens,
                                             std::int64_t now_ns) {
  for (;;) {
    auto conflict = parts.locks.in_the_way_of(change, user, tokens, now_ns);
    if (!conflict || conflict->user == user || !has_left(parts, conflict->user)) return conflict;
  }
}

std::string masked_password_of(const RequestCredentials& credentials) {
  if (credentials.account()) return masked(credentials.account()->password);
  std::string told = kTokenMark + std::string(credentials.token());
  std::string masked_token = masked(told);
  ::explicit_bzero(told.data(), told.size());
  return masked_token;
}

// It is no guess of anybody, so the throttle is not asked.
bool has_left(Parts& parts, std::string_view user) {
  const auto masked_password = parts.locks.password_to_try(user, base::now_ns());
  if (!masked_password) return false;
  const UnmaskedPassword password(*masked_password);
  if (!is_denied(parts, user, password.view())) return false;
  parts.locks.forget_user(user, *masked_password);
  return true;
}

// A guest is not told where in the share something is.
void answer_locked(Exchange& exchange, std::string_view condition,
                   const Locks::Conflict& conflict) {
  if (exchange.guest) return exchange.answer(423);
  http::AnswerHead head = exchange.begin(423);
  exchange.send_text(head, kXmlType, conflict_document(condition, conflict));
}

std::string name_for_locks(const Parts& parts, std::string_view name) {
  const std::size_t slash = name.rfind('/');
  if (slash == std::string_view::npos) return std::string(name);
  const auto folder = parts.fence->find_folder(name.substr(0, slash));
  if (!folder) return std::string(name);
  const std::string_view last = name.substr(slash + 1);
  return joined(folder->name, last);
}

std::vector<std::string> submitted_tokens(const http::RequestHead& head) {
  std::vector<std::string> tokens;
  const auto header = http::parse_if(head.value(Field::kIf));
  if (!header) return tokens;
  for (const http::IfList& list : header->lists) {
    for (const http::IfCondition& condition : list.conditions) {
      if (condition.kind == http::IfCondition::Kind::kToken) tokens.emplace_back(condition.text);
    }
  }
  return tokens;
}

bool PutLocks::allow(bool is_new) { return allow(name_, is_new); }

bool PutLocks::allow(std::string_view put, bool is_new) {
  return allow({.name = put, .is_of_members = is_new});
}

bool PutLocks::allow_whole() {
  return allow({.name = name_, .is_whole = true, .is_of_members = true});
}

bool PutLocks::allow(LockedChange change) {
  conflict_.reset();
  if (parts_.locks.is_empty(base::now_ns())) return true;
  const std::string_view put = change.name;
  const std::string name = name_for_locks(parts_, put);
  change.name = name;
  auto conflict = in_the_way_of(parts_, change, exchange_.user, tokens_, base::now_ns());
  if (conflict) conflict_ = as_told(std::move(*conflict), exchange_.rights, put);
  return !conflict_;
}

LocksOfName::LocksOfName(Parts& parts, std::string_view name)
    : parts_(parts), name_(name_for_locks(parts, name)), before_ns_(base::now_ns()) {}

void LocksOfName::forget() const { parts_.locks.forget(name_, before_ns_); }

void LocksOfName::forget_replaced() const { parts_.locks.forget_replaced(name_, before_ns_); }

LockProperties lock_properties(Parts& parts, const UserRights& rights) {
  if (parts.offer.uploads != UploadMode::kFolder)
    return {.supported = "", .active_on = [](auto&&...) { return std::string(); }};
  const std::int64_t now_ns = base::now_ns();
  const auto active_on = [&parts, &rights, now_ns](std::string_view name,
                                                   const std::string& lock_name) {
    std::string text;
    std::vector<Lock> locks = parts.locks.covering(lock_name, now_ns);
    const auto is_of_nobody = [&](const Lock& lock) { return has_left(parts, lock.user); };
    while (std::ranges::any_of(locks, is_of_nobody))
      locks = parts.locks.covering(lock_name, now_ns);
    for (Lock& lock : locks) {
      // A long text of a client stands once, and not at each name below the lock.
      if (lock.name != lock_name && lock.owner_xml.size() > kMostRepeatedBytes)
        lock.owner_xml.clear();
      lock = as_told(std::move(lock), rights, name);
    }
    append_active_locks(locks, now_ns, text);
    return text;
  };
  return {.supported = std::string(kSupportedLock), .active_on = active_on};
}

}  // namespace fileserver::dav
