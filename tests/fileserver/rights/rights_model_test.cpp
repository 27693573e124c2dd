// The table against a model that goes through all lines for each question, as docs/access.md tells
// what they mean.
#include <algorithm>
#include <memory>
#include <random>
#include <set>
#include <string>
#include <vector>

#include "fileserver/rights/user_rights.h"
#include "tests/catch.h"

using fileserver::parse_rights;
using fileserver::RightsTable;
using fileserver::UserRights;

namespace {

// 0: none, 1: read, 2: read write.
struct Line {
  std::string who;
  std::string path;  // such as "/a/%u", or "/"
  int right;
};

struct Group {
  std::string name;
  std::vector<std::string> members;
};

class Model {
 public:
  Model(std::vector<Group> groups, std::vector<Line> lines)
      : groups_(std::move(groups)), lines_(std::move(lines)) {}

  std::string text() const {
    constexpr const char* kWords[] = {"none", "read", "read write"};
    std::string text;
    for (const Line& line : lines_)
      text += line.who + " " + line.path + " " + kWords[line.right] + "\n";
    for (const Group& group : groups_) {
      text += "group " + group.name + ":";
      for (const std::string& member : group.members) text += " " + member;
      text += "\n";
    }
    return text;
  }

  int right(const std::string& user, const std::string& name) const {
    std::size_t longest = 0;
    int best_rank = 0;
    int right = 0;
    for (const Line& line : lines_) {
      const int rank = rank_of(line, user);
      const std::string path = path_for(line, user);
      if (rank == 0 || path.empty() || !leads_to(path, "/" + name)) continue;
      const auto key = std::tuple(path == "/" ? 1 : path.size() + 1, rank, line.right);
      if (key > std::tuple(longest, best_rank, right)) std::tie(longest, best_rank, right) = key;
    }
    return right;
  }

  // The least right of the name and of all paths of lines below it.
  int least(const std::string& user, const std::string& name) const {
    int least = right(user, name);
    for_each_below(user, name, [&](int one) { least = std::min(least, one); });
    return least;
  }

  bool may_list(const std::string& user, const std::string& name) const {
    int most = right(user, name);
    for_each_below(user, name, [&](int one) { most = std::max(most, one); });
    return name.empty() || most > 0;
  }

 private:
  template <typename Take>
  void for_each_below(const std::string& user, const std::string& name, Take take) const {
    for (const Line& line : lines_) {
      const std::string path = path_for(line, user);
      if (path.size() > 1 && leads_to("/" + name, path)) take(right(user, path.substr(1)));
    }
  }

  static bool leads_to(const std::string& path, const std::string& name) {
    return path == "/" || path == name || name.starts_with(path + "/");
  }

  int rank_of(const Line& line, const std::string& user) const {
    if (line.who == user && !user.starts_with('@')) return 3;
    if (line.who == "*") return 1;
    for (const Group& group : groups_) {
      if (line.who == "@" + group.name && std::ranges::count(group.members, user) > 0) return 2;
    }
    return 0;
  }

  // Empty: it fits nothing.
  static std::string path_for(const Line& line, const std::string& user) {
    std::string path = line.path;
    for (std::size_t at = 0; (at = path.find("%u")) != std::string::npos;) {
      if (user == "." || user == "..") return {};
      path.replace(at, 2, user);
    }
    return path;
  }

  std::vector<Group> groups_;
  std::vector<Line> lines_;
};

class Dice {
 public:
  std::size_t below(std::size_t count) { return engine_() % count; }
  std::string one_of(const std::vector<std::string>& words) { return words[below(words.size())]; }

 private:
  std::mt19937 engine_{20'261'126};  // NOLINT(cert-msc51-cpp): the same triples each time
};

// Those whom lines name, and those who ask.
const std::vector<std::string> kUsers{"a", "b", "ab", ".", ".."};
const std::vector<std::string> kAsking{"a", "b", "ab", "c", ".", "..", "@g"};
const std::vector<std::string> kParts{"a", "b", "ab", "%u", "%ub", "a%u"};

std::string random_path(Dice& dice) {
  std::string path;
  for (std::size_t parts = dice.below(5); parts > 0; --parts) path += "/" + dice.one_of(kParts);
  return path.empty() ? "/" : path;
}

std::string random_name(Dice& dice) {
  std::string name;
  for (std::size_t parts = dice.below(6); parts > 0; --parts)
    name += (name.empty() ? "" : "/") + dice.one_of({"a", "b", "ab", "aa", "abb", "bb"});
  return name;
}

Model random_model(Dice& dice) {
  std::vector<Group> groups;
  for (const char* name : {"g", "h"}) {
    groups.push_back({name, {}});
    for (const std::string& user : kUsers) {
      if (dice.below(2) == 0) groups.back().members.push_back(user);
    }
  }
  std::vector<std::string> whos{"*", "@g", "@h"};
  whos.insert(whos.end(), kUsers.begin(), kUsers.end());
  std::set<std::pair<std::string, std::string>> taken;
  std::vector<Line> lines;
  for (std::size_t count = dice.below(16); count > 0; --count) {
    Line line{dice.one_of(whos), random_path(dice), static_cast<int>(dice.below(3))};
    if (taken.emplace(line.who, line.path).second) lines.push_back(std::move(line));
  }
  return {std::move(groups), std::move(lines)};
}

}  // namespace

TEST_CASE("the table of rights answers as the model does", "[rights][no-threads]") {
  Dice dice;
  int questions = 0;
  int differences = 0;
  std::vector<int> seen(3);
  int listed = 0;
  for (int round = 0; round < 2'000; ++round) {
    const Model model = random_model(dice);
    const auto file = parse_rights(model.text());
    REQUIRE(file);
    const auto table = std::make_shared<const RightsTable>(*file);
    for (int i = 0; i < 20; ++i) {
      const std::string user = dice.one_of(kAsking);
      const std::string name = random_name(dice);
      const UserRights rights(table, user);
      const int right = model.right(user, name);
      const int least = model.least(user, name);
      const bool may_list = model.may_list(user, name);
      const bool is_same =
          rights.may_read(name) == (right >= 1) && rights.may_write(name) == (right >= 2) &&
          rights.may_read_all(name) == (least >= 1) && rights.may_write_all(name) == (least >= 2) &&
          rights.may_list(name) == may_list;
      questions += 5;
      ++seen[static_cast<std::size_t>(right)];
      listed += may_list && right == 0 ? 1 : 0;
      if (!is_same && ++differences == 1) {
        UNSCOPED_INFO(model.text());
        UNSCOPED_INFO(user);
        UNSCOPED_INFO(name);
      }
    }
  }
  CHECK(questions == 200'000);
  CHECK(differences == 0);
  for (const int count : seen) CHECK(count > 1'000);
  CHECK(listed > 100);
}
