// The rules of a file of rights, built for look-ups: a tree of the parts of their paths.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <string_view>
#include <unordered_map>
#include <vector>

#include "fileserver/rights/rights_file.h"

namespace fileserver {

// Immutable once built. Any thread.
//
// A question about one name costs a hash look-up for each of its parts. One about all that is below
// a name goes through the rules below it.
class RightsTable {
 public:
  explicit RightsTable(const RightsFile& file);

  // A user or a group of the file, and "*".
  using Principal = std::uint32_t;
  static constexpr Principal kAll = 0;

  // Somebody as the file knows him.
  struct Member {
    Principal self = kAll;  // kAll: no rule names the user
    std::vector<Principal> groups;
  };

  // Who asks. Both must outlive the calls they are given to.
  struct Subject {
    std::string_view user;
    const Member& member;
  };

  // Valid as long as the table.
  const Member& member(std::string_view user) const;

  // Whether a rule or a group names the user.
  bool has(std::string_view user) const { return members_.contains(user); }

  // The paths of rules with "%u" in them, as they are for this user, for rules of "*".
  std::vector<std::string> homes(std::string_view user) const;

  // The names of all users in rules and groups, sorted.
  std::vector<std::string> users() const;

  // What holds at a path, and the line that says so. Line 0: no line does.
  struct Decision {
    Right right = Right::kNone;
    int line = 0;
  };
  struct DecidedPath {
    std::string path;  // without a slash at its beginning
    Decision decision;
  };

  // `name` is as wire::is_file_name(), or empty for the served folder. What a name holds that is
  // neither is decided part by part all the same.
  //
  // What holds for the name.
  Decision decide(const Subject& subject, std::string_view name) const;

  // Whether at least this right holds for the name and for every path below it that a rule has.
  bool allows_all(const Subject& subject, std::string_view name, Right right) const;

  // Whether it holds for one of them.
  bool allows_any(const Subject& subject, std::string_view name, Right right) const;

  // The served folder, and all paths at which a line decides for the user, with "%u" replaced,
  // sorted.
  std::vector<DecidedPath> decided(const Subject& subject) const;

 private:
  struct Hash {
    using is_transparent = void;
    std::size_t operator()(std::string_view text) const {
      return std::hash<std::string_view>{}(text);
    }
  };
  template <typename Value>
  using Map = std::unordered_map<std::string, Value, Hash, std::equal_to<>>;

  using NodeId = std::size_t;
  struct Node {
    Map<NodeId> children;                           // by their part of the path
    Map<NodeId> patterns;                           // the same, of parts with "%u"
    std::unordered_map<Principal, Decision> rules;  // of the path that ends here
  };

  // The nodes of one path. There are several when parts with "%u" and without it become the same.
  using Nodes = std::vector<NodeId>;
  struct Found {
    Nodes nodes;  // of the whole name; empty: no rule has a path that begins with it
    Decision decision;
  };

  Principal principal(const std::string& who);
  NodeId child(NodeId parent, std::string_view part);
  Decision decide_at(const Subject& subject, const Nodes& nodes, const Decision& above) const;
  Found find(const Subject& subject, std::string_view name) const;
  Nodes step(const Subject& subject, const Nodes& nodes, std::string_view part) const;
  template <typename Visit>
  bool visit_below(const Subject& subject, Found from, Visit visit) const;

  std::vector<Node> nodes_;
  std::vector<std::string> homes_;  // with "%u"
  Map<Principal> principals_;
  Map<Member> members_;
  const Member nobody_;
};

// What a file of rights means, in words (--show-rights). A line for each path at which a line of
// the file decides for the user: what he may do from there on, and which line says so. For "-": the
// names of all users in the file, one a line.
std::string rights_report(const RightsFile& file, std::string_view user);

}  // namespace fileserver
