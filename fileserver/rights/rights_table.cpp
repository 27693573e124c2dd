#include "fileserver/rights/rights_table.h"

#include <fmt/core.h>

#include <algorithm>
#include <map>
#include <utility>

namespace fileserver {

namespace {

constexpr std::string_view kUserMark = "%u";

// Takes the first part off the path.
std::string_view take_part(std::string_view& path) {
  const std::size_t end = std::min(path.find('/'), path.size());
  const std::string_view part = path.substr(0, end);
  path.remove_prefix(std::min(end + 1, path.size()));
  return part;
}

// A user of these names would lead out of the folder, so nothing with "%u" fits him.
bool can_fit(std::string_view user) { return user != "." && user != ".."; }

std::string expanded(std::string_view pattern, std::string_view user) {
  std::string part;
  for (std::size_t mark = 0; (mark = pattern.find(kUserMark)) != std::string_view::npos;) {
    part.append(pattern.substr(0, mark)).append(user);
    pattern.remove_prefix(mark + kUserMark.size());
  }
  return part.append(pattern);
}

// Whether expanded() would be `part`. It takes no memory.
bool fits(std::string_view pattern, std::string_view user, std::string_view part) {
  for (;;) {
    const std::size_t mark = pattern.find(kUserMark);
    if (mark == std::string_view::npos) return pattern == part;
    if (!part.starts_with(pattern.substr(0, mark))) return false;
    part.remove_prefix(mark);
    if (!part.starts_with(user)) return false;
    part.remove_prefix(user.size());
    pattern.remove_prefix(mark + kUserMark.size());
  }
}

// What goes first for one path.
enum class Rank { kNothing, kAll, kGroup, kUser };

}  // namespace

RightsTable::RightsTable(const RightsFile& file) : nodes_(1), principals_{{"*", kAll}} {
  for (const RightsFile::Group& group : file.groups) {
    const Principal id = principal("@" + group.name);
    for (const std::string& user : group.members) {
      auto& groups = members_[user].groups;
      if (groups.empty() || groups.back() != id) groups.push_back(id);
    }
  }
  for (const RightsFile::Rule& rule : file.rules) {
    const Principal id = principal(rule.who);
    if (rule.who != "*" && !rule.who.starts_with('@')) members_[rule.who].self = id;
    NodeId node = 0;
    for (std::string_view path = rule.path; !path.empty();) node = child(node, take_part(path));
    nodes_[node].rules[id] = {rule.right, rule.line};
    const bool is_home = id == kAll && rule.path.find(kUserMark) != std::string::npos;
    if (is_home && rule.right > Right::kNone) homes_.push_back(rule.path);
  }
}

RightsTable::Principal RightsTable::principal(const std::string& who) {
  return principals_.emplace(who, static_cast<Principal>(principals_.size())).first->second;
}

RightsTable::NodeId RightsTable::child(NodeId parent, std::string_view part) {
  auto& [children, patterns, rules] = nodes_[parent];
  const NodeId next = nodes_.size();
  auto& among = part.find(kUserMark) == std::string_view::npos ? children : patterns;
  const auto [found, is_new] = among.emplace(part, next);
  if (!is_new) return found->second;
  nodes_.emplace_back();
  return next;
}

const RightsTable::Member& RightsTable::member(std::string_view user) const {
  const auto found = members_.find(user);
  return found == members_.end() ? nobody_ : found->second;
}

std::vector<std::string> RightsTable::homes(std::string_view user) const {
  std::vector<std::string> names;
  if (!can_fit(user)) return names;
  for (const std::string& home : homes_) names.push_back(expanded(home, user));
  return names;
}

std::vector<std::string> RightsTable::users() const {
  std::vector<std::string> names;
  names.reserve(members_.size());
  for (const auto& [name, member] : members_) names.push_back(name);
  std::ranges::sort(names);
  return names;
}

RightsTable::Decision RightsTable::decide_at(const Subject& subject, const Nodes& nodes,
                                             const Decision& above) const {
  Rank best_rank = Rank::kNothing;
  Decision best;
  const auto take = [&](const Node& node, Principal who, Rank rank) {
    const auto rule = node.rules.find(who);
    if (rule == node.rules.end()) return;
    if (std::pair(rank, rule->second.right) <= std::pair(best_rank, best.right)) return;
    best_rank = rank;
    best = rule->second;
  };
  for (const NodeId id : nodes) {
    const Node& node = nodes_[id];
    if (node.rules.empty()) continue;
    if (subject.member.self != kAll) take(node, subject.member.self, Rank::kUser);
    for (const Principal group : subject.member.groups) take(node, group, Rank::kGroup);
    take(node, kAll, Rank::kAll);
  }
  return best_rank == Rank::kNothing ? above : best;
}

RightsTable::Nodes RightsTable::step(const Subject& subject, const Nodes& nodes,
                                     std::string_view part) const {
  Nodes next;
  for (const NodeId id : nodes) {
    const Node& node = nodes_[id];
    if (const auto found = node.children.find(part); found != node.children.end())
      next.push_back(found->second);
    if (!can_fit(subject.user)) continue;
    for (const auto& [pattern, child] : node.patterns) {
      if (fits(pattern, subject.user, part)) next.push_back(child);
    }
  }
  return next;
}

RightsTable::Found RightsTable::find(const Subject& subject, std::string_view name) const {
  Found found{{0}, {}};
  found.decision = decide_at(subject, found.nodes, {});
  while (!name.empty() && !found.nodes.empty()) {
    found.nodes = step(subject, found.nodes, take_part(name));
    found.decision = decide_at(subject, found.nodes, found.decision);
  }
  return found;
}

// Calls visit(path, decision, that of the folder above) for each path below `from` that rules have,
// until it returns false. Returns whether it never did.
template <typename Visit>
bool RightsTable::visit_below(const Subject& subject, Found from, Visit visit) const {
  std::vector<std::pair<std::string, Found>> left;
  left.emplace_back(std::string(), std::move(from));
  while (!left.empty()) {
    const auto [path, at] = std::move(left.back());
    left.pop_back();
    std::map<std::string, Nodes> children;
    for (const NodeId id : at.nodes) {
      for (const auto& [part, child] : nodes_[id].children) children[part].push_back(child);
      if (!can_fit(subject.user)) continue;
      for (const auto& [pattern, child] : nodes_[id].patterns)
        children[expanded(pattern, subject.user)].push_back(child);
    }
    for (auto& [part, nodes] : children) {
      const Decision decision = decide_at(subject, nodes, at.decision);
      std::string below = path;
      if (!path.empty()) below += '/';
      below += part;
      if (!visit(below, decision, at.decision)) return false;
      left.emplace_back(std::move(below), Found{std::move(nodes), decision});
    }
  }
  return true;
}

RightsTable::Decision RightsTable::decide(const Subject& subject, std::string_view name) const {
  return find(subject, name).decision;
}

bool RightsTable::allows_all(const Subject& subject, std::string_view name, Right right) const {
  Found found = find(subject, name);
  if (found.decision.right < right) return false;
  return visit_below(
      subject, std::move(found),
      [right](const auto&, const Decision& at, const auto&) { return at.right >= right; });
}

bool RightsTable::allows_any(const Subject& subject, std::string_view name, Right right) const {
  Found found = find(subject, name);
  if (found.decision.right >= right) return true;
  return !visit_below(
      subject, std::move(found),
      [right](const auto&, const Decision& at, const auto&) { return at.right < right; });
}

std::vector<RightsTable::DecidedPath> RightsTable::decided(const Subject& subject) const {
  std::vector<DecidedPath> decided;
  Found root = find(subject, {});
  decided.push_back({{}, root.decision});
  visit_below(subject, std::move(root),
              [&](const std::string& path, const Decision& at, const Decision& above) {
                if (at.line != above.line) decided.push_back({path, at});
                return true;
              });
  std::ranges::sort(decided, {}, &DecidedPath::path);
  return decided;
}

std::string rights_report(const RightsFile& file, std::string_view user) {
  const RightsTable table(file);
  std::string text;
  if (user == "-") {
    for (const std::string& name : table.users()) text += name + "\n";
    return text;
  }
  for (const auto& [path, decision] : table.decided({user, table.member(user)})) {
    const std::string line = decision.line == 0 ? "no line" : fmt::format("line {}", decision.line);
    text += fmt::format("{:<10}  /{}  ({})\n", word_of(decision.right), path, line);
  }
  return text;
}

}  // namespace fileserver
