// The write locks of WebDAV (RFC 4918, section 6): a table in memory.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <string_view>
#include <variant>
#include <vector>

#include "base/clock.h"
#include "base/mutex.h"
#include "fileserver/rights/user_rights.h"

namespace fileserver {

inline constexpr std::int64_t kMaxLockSeconds = 3600;  // also what nobody asked otherwise gets
inline constexpr std::size_t kMaxOwnerBytes = 2048;    // of the XML of a lock's owner

struct Lock {
  enum class Scope : std::uint8_t { kExclusive, kShared };
  enum class Depth : std::uint8_t { kZero, kInfinity };

  std::string name = {};   // as in wire::is_file_name(); empty: the served folder
  std::string asked = {};  // the same as its user named it, by which the rights go
  bool is_folder = false;
  Scope scope = Scope::kExclusive;
  Depth depth = Depth::kInfinity;
  std::string user = {};       // who made it, and may use it
  std::string owner_xml = {};  // what the client says of itself: the inside of DAV:owner
  std::string token = {};      // "urn:uuid:..."; Locks::add() makes it
  std::int64_t made_ns = 0;
  std::int64_t ends_ns = 0;
};

// Whether its user may have it: nobody keeps others from writing where he may not write himself.
bool may_have(const UserRights& rights, const Lock& lock);

// What a request does to a name.
struct LockedChange {
  std::string_view name;
  bool is_whole = false;       // also to all that is below it
  bool is_of_members = false;  // its folder gets the name, or loses it
};

// Names are compared byte by byte, so they have to be without links.
//
// A lock protects its name, and with infinite depth all names below it. One of a folder protects
// which names the folder has, too. A lock that has ended is none. Every time is given by the
// caller, in nanoseconds of one clock that never goes back.
//
// Any thread. The mutex is a leaf: nothing waits and no other lock is taken while it is held.
class Locks {
 public:
  struct Limits {
    std::size_t of_user = 1'000;
    std::size_t of_user_later = 100;  // once half of the table is taken
    std::size_t in_all = 16'384;
    // Shared ones that reach the same name, or each other. PROPFIND lists all of a name.
    std::size_t shared = 16;
  };

  Locks() : Locks(Limits{}) {}
  explicit Locks(Limits limits) : limits_(limits) {}

  // Why a lock was not made.
  struct Conflict {
    std::string name;  // of the lock that is in the way
    bool is_folder;
    std::string user = {};
  };
  struct TooMany {};

  // Makes the lock, which ends at ends_ns, and returns it with its token. An exclusive lock has
  // nothing beside it, and a shared one has no exclusive one, whoever made them. Keeps the masked
  // password of its user, or the token of a session, which was right just now, as long as the user
  // has locks.
  std::variant<Lock, Conflict, TooMany> add(Lock lock, std::string masked_password = {})
      EXCLUDES(mutex_);

  // Gives a lock of that user, on the name or above it, a new end. Nothing if there is none.
  std::optional<Lock> refresh(std::string_view token, std::string_view name, std::string_view user,
                              std::int64_t now_ns, std::int64_t ends_ns,
                              std::string masked_password = {}) EXCLUDES(mutex_);

  // The masked password of a user who has locks, to ask whether the account is still there. Of all
  // callers within kAskNs one gets it; nothing for the others.
  static constexpr std::int64_t kAskNs = 2 * base::kNsPerS;
  std::optional<std::string> password_to_try(std::string_view user, std::int64_t now_ns)
      EXCLUDES(mutex_);

  // Ends all locks of the user, unless he has used another password since.
  void forget_user(std::string_view user, std::string_view masked_password) EXCLUDES(mutex_);

  enum class Unlocked : std::uint8_t { kDone, kUnknown, kOfOtherUser };

  // Ends a lock on the name or above it.
  Unlocked remove(std::string_view token, std::string_view name, std::string_view user,
                  std::int64_t now_ns) EXCLUDES(mutex_);

  // Ends the locks on the name and below it that were made before `before_ns`: the name is gone.
  void forget(std::string_view name, std::int64_t before_ns) EXCLUDES(mutex_);

  // Ends those of the same time that go with what was replaced: those below the name, and those of
  // the name if it was one of a folder. A lock of a file stays, for what has the name now.
  void forget_replaced(std::string_view name, std::int64_t before_ns) EXCLUDES(mutex_);

  // The locks that protect what has the name.
  std::vector<Lock> covering(std::string_view name, std::int64_t now_ns) const EXCLUDES(mutex_);

  // Whether that token is of a lock that protects what has the name. It may be of anybody.
  bool has(std::string_view token, std::string_view name, std::int64_t now_ns) const
      EXCLUDES(mutex_);

  // A lock that does not let the user make the change with these tokens. Of several locks that
  // protect one name the token of one is enough, if it is the user's own.
  std::optional<Conflict> in_the_way_of(const LockedChange& change, std::string_view user,
                                        std::span<const std::string> tokens,
                                        std::int64_t now_ns) const EXCLUDES(mutex_);

  // Some of the locks, by name, behind that name, or the first ones; of each name all. Empty: there
  // are no more. So the whole table is read without holding others up.
  std::vector<Lock> some_behind(const std::optional<std::string>& name, std::int64_t now_ns) const
      EXCLUDES(mutex_);

  // Whether there is no lock at all, so that nobody needs to look for one.
  bool is_empty(std::int64_t now_ns) EXCLUDES(mutex_);

 private:
  using OfOneName = std::vector<Lock>;
  // By name, so that all names below one follow each other.
  using Table = std::map<std::string, OfOneName, std::less<>>;

  template <typename Visit>
  void each_covering(std::string_view name, std::int64_t now_ns, Visit visit) const
      REQUIRES(mutex_);
  template <typename IsGone>
  void erase_below(std::string_view name, IsGone is_gone) REQUIRES(mutex_);
  template <typename IsGone>
  void erase_at(Table::iterator at, IsGone is_gone) REQUIRES(mutex_);

  Lock* find(std::string_view token, std::string_view name, std::int64_t now_ns) REQUIRES(mutex_);
  const Lock* conflict_with(const Lock& lock) const REQUIRES(mutex_);
  std::size_t count_beside(const Lock& lock) const REQUIRES(mutex_);
  const Lock* unopened(std::string_view name, std::string_view user,
                       std::span<const std::string> tokens, std::int64_t now_ns) const
      REQUIRES(mutex_);
  void drop_ended(std::int64_t now_ns) REQUIRES(mutex_);

  const Limits limits_;

  mutable base::Mutex mutex_;
  Table table_ GUARDED_BY(mutex_);
  // How many there are. Those that have ended count until drop_ended() comes to them.
  std::size_t size_ GUARDED_BY(mutex_) = 0;
  struct OfUser {
    std::size_t locks = 0;
    std::string masked_password = {};
    std::int64_t asked_ns = 0;
  };
  std::map<std::string, OfUser, std::less<>> of_user_ GUARDED_BY(mutex_);
  std::int64_t first_end_ns_ GUARDED_BY(mutex_) = INT64_MAX;  // or earlier
};

}  // namespace fileserver
