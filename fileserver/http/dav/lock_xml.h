// The XML of locks (RFC 4918, sections 14 to 16). What is printed needs a document in which the
// prefix D stands for "DAV:".
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <string_view>
#include <variant>

#include "fileserver/rights/locks.h"
#include "http/status.h"
#include "xml/element.h"

namespace fileserver::dav {

// The content of the property supportedlock: exclusive and shared write locks.
extern const std::string_view kSupportedLock;

// Appends the content of the property lockdiscovery. The time-outs are what is left now. The owner
// is what the client said of itself, else the user.
void append_active_locks(std::span<const Lock> locks, std::int64_t now_ns, std::string& to);

// The body of an answer to LOCK.
std::string lock_document(const Lock& lock, std::int64_t now_ns);

// The body of 423. `condition` is "lock-token-submitted" or "no-conflicting-lock".
std::string conflict_document(std::string_view condition, const Locks::Conflict& conflict);

// What the body of a LOCK asks for.
struct LockInfo {
  Lock::Scope scope;
  std::string owner_xml;
};

// 422: it is no lockinfo, or another kind of lock. 413: the owner is over kMaxOwnerBytes.
std::variant<LockInfo, http::Status> parse_lock_info(const xml::Element& root);

}  // namespace fileserver::dav
