#include "fileserver/rights/locks.h"

#include <fmt/core.h>
#include <sodium.h>

#include <algorithm>
#include <array>
#include <iterator>
#include <utility>

namespace fileserver {

bool may_have(const UserRights& rights, const Lock& lock) {
  return lock.depth == Lock::Depth::kInfinity ? rights.may_write_all(lock.asked)
                                              : rights.may_write(lock.asked);
}

namespace {

// A random UUID (RFC 9562, version 4) as a URN.
std::string random_token() {
  std::array<unsigned char, 16> bytes{};
  ::randombytes_buf(bytes.data(), bytes.size());
  bytes[6] = static_cast<unsigned char>((bytes[6] & 0x0f) | 0x40);
  bytes[8] = static_cast<unsigned char>((bytes[8] & 0x3f) | 0x80);
  std::string token = "urn:uuid:";
  for (std::size_t i = 0; i < bytes.size(); ++i) {
    if (i == 4 || i == 6 || i == 8 || i == 10) token += '-';
    token += fmt::format("{:02x}", bytes[i]);
  }
  return token;
}

// The name of the folder that has the name. Requires: the name is not empty.
std::string_view folder_of(std::string_view name) {
  const std::size_t slash = name.rfind('/');
  return slash == std::string_view::npos ? std::string_view() : name.substr(0, slash);
}

// The names of the table below the name: from "a/" up to "a0", as "0" comes next behind "/".
template <typename Table>
auto below(Table& table, std::string_view name) {
  if (name.empty()) return std::pair(table.upper_bound(name), table.end());
  return std::pair(table.lower_bound(std::string(name) + "/"),
                   table.lower_bound(std::string(name) + "0"));
}

Locks::Conflict conflict_of(const Lock& lock) { return {lock.name, lock.is_folder, lock.user}; }

}  // namespace

// Visits the locks that protect the name, until visit() returns false.
template <typename Visit>
void Locks::each_covering(std::string_view name, std::int64_t now_ns, Visit visit) const {
  for (std::string_view at = name;; at = folder_of(at)) {
    if (const auto found = table_.find(at); found != table_.end()) {
      for (const Lock& lock : found->second) {
        const bool reaches = at.size() == name.size() || lock.depth == Lock::Depth::kInfinity;
        if (reaches && lock.ends_ns > now_ns && !visit(lock)) return;
      }
    }
    if (at.empty()) return;
  }
}

template <typename IsGone>
void Locks::erase_at(Table::iterator at, IsGone is_gone) {
  OfOneName& locks = at->second;
  for (auto lock = locks.begin(); lock != locks.end();) {
    if (!is_gone(*lock)) {
      ++lock;
      continue;
    }
    const auto of_user = of_user_.find(lock->user);
    if (--of_user->second.locks == 0) of_user_.erase(of_user);
    --size_;
    lock = locks.erase(lock);
  }
  if (locks.empty()) table_.erase(at);
}

template <typename IsGone>
void Locks::erase_below(std::string_view name, IsGone is_gone) {
  const auto [first, last] = below(table_, name);
  for (auto at = first; at != last;) erase_at(at++, is_gone);
}

void Locks::drop_ended(std::int64_t now_ns) {
  if (now_ns < first_end_ns_) return;
  first_end_ns_ = INT64_MAX;
  for (auto at = table_.begin(); at != table_.end();) {
    for (const Lock& lock : at->second) {
      if (lock.ends_ns > now_ns) first_end_ns_ = std::min(first_end_ns_, lock.ends_ns);
    }
    erase_at(at++, [&](const Lock& lock) { return lock.ends_ns <= now_ns; });
  }
}

// The lock that does not let this one be beside it. Null if there is none.
const Lock* Locks::conflict_with(const Lock& lock) const {
  const auto is_beside = [&](const Lock& other) {
    return lock.scope == Lock::Scope::kShared && other.scope == Lock::Scope::kShared;
  };
  const Lock* conflict = nullptr;
  each_covering(lock.name, lock.made_ns, [&](const Lock& other) {
    if (!is_beside(other)) conflict = &other;
    return conflict == nullptr;
  });
  if (conflict != nullptr || lock.depth == Lock::Depth::kZero) return conflict;
  const auto [first, last] = below(table_, lock.name);
  for (auto at = first; at != last; ++at) {
    for (const Lock& other : at->second) {
      if (other.ends_ns > lock.made_ns && !is_beside(other)) return &other;
    }
  }
  return nullptr;
}

// How many locks protect the name of this one, and what it would protect. Requires: no conflict, so
// they are all shared.
std::size_t Locks::count_beside(const Lock& lock) const {
  std::size_t count = 0;
  each_covering(lock.name, lock.made_ns, [&](const Lock&) {
    ++count;
    return true;
  });
  if (lock.depth == Lock::Depth::kZero) return count;
  const auto [first, last] = below(table_, lock.name);
  for (auto at = first; at != last; ++at) count += at->second.size();
  return count;
}

std::variant<Lock, Locks::Conflict, Locks::TooMany> Locks::add(Lock lock,
                                                               std::string masked_password) {
  lock.token = random_token();
  const base::Lock held(mutex_);
  drop_ended(lock.made_ns);
  if (const Lock* const conflict = conflict_with(lock)) return conflict_of(*conflict);
  const auto of_user = of_user_.find(lock.user);
  const std::size_t own = of_user == of_user_.end() ? 0 : of_user->second.locks;
  const bool is_half_taken = size_ >= limits_.in_all / 2;
  const std::size_t most_of_user =
      is_half_taken ? std::min(limits_.of_user, limits_.of_user_later) : limits_.of_user;
  if (size_ >= limits_.in_all || own >= most_of_user) return TooMany{};
  if (count_beside(lock) >= limits_.shared) return TooMany{};
  Lock copy = lock;
  OfUser& user = of_user_[lock.user];
  table_[lock.name].push_back(std::move(copy));
  ++user.locks;
  user.masked_password = std::move(masked_password);
  ++size_;
  first_end_ns_ = std::min(first_end_ns_, lock.ends_ns);
  return lock;
}

// The lock of that token that protects the name. Null if there is none.
Lock* Locks::find(std::string_view token, std::string_view name, std::int64_t now_ns) {
  const Lock* found = nullptr;
  each_covering(name, now_ns, [&](const Lock& lock) {
    if (lock.token == token) found = &lock;
    return found == nullptr;
  });
  if (found == nullptr) return nullptr;
  for (Lock& lock : table_.find(found->name)->second) {
    if (&lock == found) return &lock;
  }
  return nullptr;
}

std::optional<Lock> Locks::refresh(std::string_view token, std::string_view name,
                                   std::string_view user, std::int64_t now_ns, std::int64_t ends_ns,
                                   std::string masked_password) {
  const base::Lock held(mutex_);
  Lock* const lock = find(token, name, now_ns);
  if (lock == nullptr || lock->user != user) return {};
  lock->ends_ns = ends_ns;
  of_user_.find(user)->second.masked_password = std::move(masked_password);
  first_end_ns_ = std::min(first_end_ns_, ends_ns);
  return *lock;
}

std::optional<std::string> Locks::password_to_try(std::string_view user, std::int64_t now_ns) {
  const base::Lock held(mutex_);
  const auto found = of_user_.find(user);
  if (found == of_user_.end() || found->second.masked_password.empty()) return {};
  if (now_ns - found->second.asked_ns < kAskNs) return {};
  found->second.asked_ns = now_ns;
  return found->second.masked_password;
}

void Locks::forget_user(std::string_view user, std::string_view masked_password) {
  const base::Lock held(mutex_);
  const auto found = of_user_.find(user);
  if (found == of_user_.end() || found->second.masked_password != masked_password) return;
  for (auto at = table_.begin(); at != table_.end();)
    erase_at(at++, [&](const Lock& lock) { return lock.user == user; });
}

Locks::Unlocked Locks::remove(std::string_view token, std::string_view name, std::string_view user,
                              std::int64_t now_ns) {
  const base::Lock held(mutex_);
  const Lock* const lock = find(token, name, now_ns);
  if (lock == nullptr) return Unlocked::kUnknown;
  if (lock->user != user) return Unlocked::kOfOtherUser;
  erase_at(table_.find(lock->name), [&](const Lock& other) { return other.token == token; });
  return Unlocked::kDone;
}

void Locks::forget(std::string_view name, std::int64_t before_ns) {
  const auto is_gone = [&](const Lock& lock) { return lock.made_ns < before_ns; };
  const base::Lock held(mutex_);
  if (const auto own = table_.find(name); own != table_.end()) erase_at(own, is_gone);
  erase_below(name, is_gone);
}

void Locks::forget_replaced(std::string_view name, std::int64_t before_ns) {
  const auto is_gone = [&](const Lock& lock) { return lock.made_ns < before_ns; };
  const base::Lock held(mutex_);
  if (const auto own = table_.find(name); own != table_.end())
    erase_at(own, [&](const Lock& lock) { return lock.is_folder && is_gone(lock); });
  erase_below(name, is_gone);
}

std::vector<Lock> Locks::covering(std::string_view name, std::int64_t now_ns) const {
  std::vector<Lock> locks;
  const base::Lock held(mutex_);
  each_covering(name, now_ns, [&](const Lock& lock) {
    locks.push_back(lock);
    return true;
  });
  return locks;
}

bool Locks::has(std::string_view token, std::string_view name, std::int64_t now_ns) const {
  bool is_found = false;
  const base::Lock held(mutex_);
  each_covering(name, now_ns, [&](const Lock& lock) {
    is_found = lock.token == token;
    return !is_found;
  });
  return is_found;
}

// A lock that protects the name, if there is one and none of the tokens is of such a lock.
const Lock* Locks::unopened(std::string_view name, std::string_view user,
                            std::span<const std::string> tokens, std::int64_t now_ns) const {
  const Lock* unopened = nullptr;
  each_covering(name, now_ns, [&](const Lock& lock) {
    const bool is_own = lock.user == user && std::ranges::find(tokens, lock.token) != tokens.end();
    unopened = is_own ? nullptr : &lock;
    return !is_own;
  });
  return unopened;
}

std::optional<Locks::Conflict> Locks::in_the_way_of(const LockedChange& change,
                                                    std::string_view user,
                                                    std::span<const std::string> tokens,
                                                    std::int64_t now_ns) const {
  const base::Lock held(mutex_);
  const Lock* conflict = unopened(change.name, user, tokens, now_ns);
  if (conflict == nullptr && change.is_of_members && !change.name.empty())
    conflict = unopened(folder_of(change.name), user, tokens, now_ns);
  if (change.is_whole) {
    const auto [first, last] = below(table_, change.name);
    for (auto at = first; at != last && conflict == nullptr; ++at)
      conflict = unopened(at->first, user, tokens, now_ns);
  }
  if (conflict == nullptr) return {};
  return conflict_of(*conflict);
}

std::vector<Lock> Locks::some_behind(const std::optional<std::string>& name,
                                     std::int64_t now_ns) const {
  constexpr std::size_t kSome = 64;
  std::vector<Lock> some;
  const base::Lock held(mutex_);
  auto at = name ? table_.upper_bound(*name) : table_.begin();
  for (; at != table_.end() && some.size() < kSome; ++at) {
    std::ranges::copy_if(at->second, std::back_inserter(some),
                         [&](const Lock& lock) { return lock.ends_ns > now_ns; });
  }
  return some;
}

bool Locks::is_empty(std::int64_t now_ns) {
  const base::Lock held(mutex_);
  drop_ended(now_ns);
  return size_ == 0;
}

}  // namespace fileserver
