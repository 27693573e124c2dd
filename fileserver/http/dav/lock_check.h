// Whether If and the locks let a request do what it asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "fileserver/http/dav/find_resource.h"
#include "fileserver/http/exchange.h"
#include "fileserver/rights/locks.h"
#include "fileserver/rights/user_rights.h"

namespace fileserver {
struct Parts;
}

namespace fileserver::dav {

// Answers 400, 412 or 423 and returns true if the If of the request is malformed or does not hold,
// or if what it changes below its own path is locked. Returns false otherwise. Whether a PUT or a
// LOCK makes a new name is known later: they check the lock of the folder themselves.
//
// Requires: the request has a path, its credentials were validated and its head is still valid.
bool is_refused_by_locks(Exchange& exchange, Parts& parts);

// Answers 423 and returns true if the change is locked. For MOVE and COPY, whose destination is not
// the path of the request. Requires: is_refused_by_locks(exchange, parts) returned false.
bool is_refused_by_locks(Exchange& exchange, Parts& parts, const LockedChange& change);

// Whether the If of a head holds for the name, as far as the user may know; true without one, or
// for a malformed one. May block.
bool has_malformed_if(const http::RequestHead& head);
bool if_holds(const Exchange& exchange, const Parts& parts, const http::RequestHead& head,
              std::string_view name);

// As Locks::in_the_way_of(). Locks of a user who was removed, or has another password than the one
// that the lock was made with, are ended instead. The authserver is asked for that, at most every
// two seconds for each user whose lock is in the way; without its answer they stay. May block.
std::optional<Locks::Conflict> in_the_way_of(Parts& parts, const LockedChange& change,
                                             std::string_view user,
                                             std::span<const std::string> tokens,
                                             std::int64_t now_ns);

// What Locks keeps to ask for the user again: the password, or the token of the session.
std::string masked_password_of(const RequestCredentials& credentials);

// Whether the user was found to have left, so that no lock of his is there any more. May block.
bool has_left(Parts& parts, std::string_view user);

// Answers 423. `condition` is that of conflict_document().
void answer_locked(Exchange& exchange, std::string_view condition, const Locks::Conflict& conflict);

// What a user who met the lock at the name `asked` may be told of it. The lock's own name has no
// links, or is above. Where the user may not read that one, `asked` stands in its place.
template <typename LockOrConflict>
LockOrConflict as_told(LockOrConflict lock, const UserRights& rights, std::string_view asked) {
  if (!may_see(rights, lock.name, lock.is_folder)) {
    lock.name = asked;
    lock.is_folder = false;
  }
  return lock;
}

// The name under which its locks are kept: without links to folders on the way. May block.
std::string name_for_locks(const Parts& parts, std::string_view name);

// What PROPFIND says about locks, as far as this user may know them. Both must outlive what is
// returned.
LockProperties lock_properties(Parts& parts, const UserRights& rights);

// The tokens in If, whatever it says of them: the client knows them. Empty if If is malformed.
std::vector<std::string> submitted_tokens(const http::RequestHead& head);

// The locks of a name that gets another content, which takes a while. A lock that is made
// meanwhile, such as while the body of a PUT comes, stops it too. Only one that is made in the
// moment between the last look and the new name does not.
class PutLocks {
 public:
  // Both must outlive this. Requires: the head of the request is still valid; it is not kept.
  PutLocks(const Exchange& exchange, Parts& parts)
      : PutLocks(exchange, parts, exchange.path()->name, submitted_tokens(exchange.head())) {}

  // Of a file with another name than the path of the request. The name must outlive this.
  PutLocks(const Exchange& exchange, Parts& parts, std::string_view name,
           std::vector<std::string> tokens)
      : exchange_(exchange), parts_(parts), name_(name), tokens_(std::move(tokens)) {}

  // Whether the file may be put now. `is_new`: nothing has the name yet. May block.
  bool allow(bool is_new);

  // The same for a name that the file gets instead.
  bool allow(std::string_view put, bool is_new);

  // The same for what has the name now, with all that is in it, such as the target of a COPY.
  bool allow_whole();

  // Why not; nothing if it was always allowed.
  const std::optional<Locks::Conflict>& conflict() const { return conflict_; }

 private:
  bool allow(LockedChange change);

  const Exchange& exchange_;
  Parts& parts_;
  const std::string_view name_;
  const std::vector<std::string> tokens_;
  std::optional<Locks::Conflict> conflict_;
};

// The locks of a name that is about to be removed, renamed or replaced: they do not go along.
class LocksOfName {
 public:
  // May block. `parts` must outlive this.
  LocksOfName(Parts& parts, std::string_view name);

  // Ends them and those of all below it. To be called once the name is gone, and before that is
  // answered. A lock that was made since the constructor stays.
  void forget() const;

  // The same, once something else has the name: a lock of a file stays.
  void forget_replaced() const;

 private:
  Parts& parts_;
  const std::string name_;
  const std::int64_t before_ns_;
};

}  // namespace fileserver::dav
