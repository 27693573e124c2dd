#include "fileserver/rights/rights_table.h"

#include <memory>
#include <string>

#include "fileserver/rights/user_rights.h"
#include "tests/catch.h"

using fileserver::parse_rights;
using fileserver::RightsTable;
using fileserver::UserRights;

namespace {

std::shared_ptr<const RightsTable> table_of(std::string_view text) {
  const auto file = parse_rights(text);
  REQUIRE(file);
  return std::make_shared<const RightsTable>(*file);
}

// "none", "read" or "write".
std::string right(const UserRights& rights, std::string_view name) {
  if (rights.may_write(name)) return "write";
  return rights.may_read(name) ? "read" : "none";
}

constexpr std::string_view kExample =
    "group staff: amy bob\n"
    "*         /            read\n"
    "@staff    /plans       read write\n"
    "bob       /plans/pay   none\n"
    "*         /home/%u     read write\n";

}  // namespace

TEST_CASE("the longest path that leads to a name decides", "[rights]") {
  const auto table = table_of(kExample);
  const UserRights amy(table, "amy");
  const UserRights bob(table, "bob");
  const UserRights eve(table, "eve");
  for (const auto& [name, of_amy, of_bob, of_eve] : {std::tuple{"", "read", "read", "read"},
                                                     {"a", "read", "read", "read"},
                                                     {"plans", "write", "write", "read"},
                                                     {"plansb", "read", "read", "read"},
                                                     {"plans/a/b", "write", "write", "read"},
                                                     {"plans/pay", "write", "none", "read"},
                                                     {"plans/pay/x", "write", "none", "read"},
                                                     {"plans/pays", "write", "write", "read"},
                                                     {"home", "read", "read", "read"},
                                                     {"home/amy", "write", "read", "read"},
                                                     {"home/amy/x", "write", "read", "read"},
                                                     {"home/%u", "read", "read", "read"}}) {
    CAPTURE(name);
    CHECK(right(amy, name) == of_amy);
    CHECK(right(bob, name) == of_bob);
    CHECK(right(eve, name) == of_eve);
  }
}

TEST_CASE("for one path a user goes before a group, and a group before all", "[rights]") {
  const auto table = table_of(
      "group a: amy bob cid\ngroup b: amy bob\n"
      "* /x read write\n@a /x read\n@b /x none\namy /x none\n");
  CHECK(right({table, "amy"}, "x") == "none");
  CHECK(right({table, "bob"}, "x") == "read");  // the most generous group
  CHECK(right({table, "cid"}, "x") == "read");
  CHECK(right({table, "eve"}, "x") == "write");
}

TEST_CASE("paths that become the same with the user are one path", "[rights]") {
  const auto table = table_of("* /%u read write\n* /amy none\nbob /bob read\n* /%u/%u none\n");
  CHECK(right({table, "amy"}, "amy") == "write");  // the most generous of the same rank
  CHECK(right({table, "bob"}, "bob") == "read");   // a user goes before all
  CHECK(right({table, "cid"}, "cid/x") == "write");
  CHECK(right({table, "cid"}, "cid/cid") == "none");
  CHECK_FALSE(UserRights(table, "cid").may_read_all("cid"));
  CHECK(right({table, "cid"}, "amy") == "none");
}

TEST_CASE("the user may be a piece of a part", "[rights]") {
  const auto table = table_of("* /in-%u-%u.d read\n");
  CHECK(right({table, "amy"}, "in-amy-amy.d/x") == "read");
  for (const char* name : {"in-amy-bob.d", "in-amy-amy.dd", "in-amy-amy", "in-amy"})
    CHECK(right({table, "amy"}, name) == "none");
  CHECK(right({table, "a-a"}, "in-a-a-a-a.d") == "read");
}

TEST_CASE("a path with a user fits nobody who is called like a folder above", "[rights]") {
  const auto table = table_of("* /home/%u read write\n* /home/x%u read\n");
  for (const char* user : {".", ".."}) {
    const UserRights rights(table, user);
    for (const char* name : {"home", "home/.", "home/..", "home/x.", "home/x..", "."})
      CHECK(right(rights, name) == "none");
    CHECK_FALSE(rights.may_list("home"));
  }
  CHECK(right({table, "..."}, "home/...") == "write");
}

TEST_CASE("all that is below counts by the table", "[rights]") {
  const auto table = table_of(kExample);
  CHECK(UserRights(table, "amy").may_write_all("plans"));
  CHECK_FALSE(UserRights(table, "bob").may_write_all("plans"));
  CHECK_FALSE(UserRights(table, "bob").may_read_all("plans"));
  CHECK_FALSE(UserRights(table, "bob").may_read_all(""));
  CHECK(UserRights(table, "amy").may_read_all(""));
  CHECK(UserRights(table, "bob").may_write_all("plans/x"));
  const auto homes = table_of("* / read write\n* /home/%u/mail none\n");
  CHECK_FALSE(UserRights(homes, "amy").may_write_all("home"));
  CHECK_FALSE(UserRights(homes, "amy").may_read_all("home/amy"));
  CHECK(UserRights(homes, "amy").may_write_all("home/bob"));
}

TEST_CASE("folders on the way to what may be read are listed", "[rights]") {
  const auto table = table_of("amy /a/b/c read\n* /home/%u read\namy /a/b/c/d none\n");
  const UserRights amy(table, "amy");
  for (const char* folder : {"", "a", "a/b", "a/b/c", "a/b/c/x", "home", "home/amy"})
    CHECK(amy.may_list(folder));
  for (const char* folder : {"b", "a/c", "a/b/c/d", "home/bob", "ho"})
    CHECK_FALSE(amy.may_list(folder));
  CHECK_FALSE(amy.may_read("a/b"));
  CHECK_FALSE(UserRights(table, "bob").may_list("a"));
}

TEST_CASE("the table says by which line a user may do what", "[rights]") {
  const auto table = table_of(kExample);
  std::string text;
  for (const auto& at : table->decided({"bob", table->member("bob")}))
    text += at.path + "|" + std::to_string(at.decision.line) + " ";
  CHECK(text == "|2 home/bob|5 plans|3 plans/pay|4 ");
}
