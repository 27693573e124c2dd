#include "fileserver/rights/rights_file.h"

#include <string>

#include "tests/catch.h"
#include "tests/temporary_folder.h"

using fileserver::kMaxRightsBytes;
using fileserver::kMaxRightsPathBytes;
using fileserver::parse_rights;
using fileserver::Right;
using fileserver::RightsFile;

namespace {

// The only rule of a text that has one, as "who|path|right".
std::string rule_of(std::string_view text) {
  const auto file = parse_rights(text);
  if (!file) return file.error().context;
  if (file->rules.size() != 1) return "not one rule";
  const RightsFile::Rule& rule = file->rules[0];
  return rule.who + "|" + rule.path + "|" + std::string(word_of(rule.right));
}

std::string wrong(std::string_view text) {
  const auto file = parse_rights(text);
  return file ? "it is right" : file.error().context;
}

}  // namespace

TEST_CASE("a rule is who, a path with its blanks, and what", "[rights]") {
  CHECK(rule_of("* / read") == "*||read");
  CHECK(rule_of("amy /a none\n") == "amy|a|none");
  CHECK(rule_of("  amy\t/a/b/ \t read   write \r\n") == "amy|a/b|read write");
  CHECK(rule_of("amy /my  own files read") == "amy|my  own files|read");
  CHECK(rule_of("amy /to read read") == "amy|to read|read");
  CHECK(rule_of("amy /to read read write") == "amy|to read|read write");
  CHECK(rule_of("amy /read none") == "amy|read|none");
  CHECK(rule_of("amy /bread read") == "amy|bread|read");
  CHECK(rule_of("amy /%u/%u.d none") == "amy|%u/%u.d|none");
  CHECK(rule_of("group /a read") == "group|a|read");  // a user of this name
  CHECK(rule_of("amy /#1 read") == "amy|#1|read");
  CHECK(rule_of("# amy /a read\n\n \t\n* / read\n#") == "*||read");
}

TEST_CASE("a group has members, and may stand behind its rules", "[rights]") {
  const auto file = parse_rights("@staff /a read\ngroup staff: amy  bob\ngroup none:\n");
  REQUIRE(file);
  REQUIRE(file->groups.size() == 2);
  CHECK(file->groups[0].name == "staff");
  CHECK(file->groups[0].members == std::vector<std::string>{"amy", "bob"});
  CHECK(file->groups[1].members.empty());
  CHECK(file->rules[0].who == "@staff");
  CHECK(file->rules[0].line == 1);
}

TEST_CASE("a line that cannot be right is refused with its number", "[rights]") {
  for (const auto& [text, reason] : {
           std::pair{"amy", "line 1: the last words must be `none`, `read` or `read write`"},
           {"\n# x\namy /a", "line 3: the last words"},
           {"amy /a write", "line 1: the last words"},
           {"amy /a write read write x", "line 1: the last words"},
           {"amy /aread", "line 1: the last words"},
           {"amy /a Read", "line 1: the last words"},
           {"amy read", "line 1: a path that begins with /"},
           {"amy a read", "line 1: a path that begins with /"},
           {"amy read write", "line 1: a path that begins with /"},
           {"amy // read", "line 1: no file can have the path \"//\""},
           {"amy /a// read", "line 1: no file can have the path"},
           {"amy /a//b read", "line 1: no file can have the path"},
           {"amy /a/../b read", "line 1: no file can have the path"},
           {"amy /. read", "line 1: no file can have the path"},
           {"amy /a\tb read", "line 1: no file can have the path"},
           {"amy /a\x01 read", "line 1: there is a control byte"},
           {"amy /a\x7f read", "line 1: there is a control byte"},
           {"a:b /a read", "line 1: \"a:b\" is neither"},
           {"@ /a read", "line 1: \"@\" is neither"},
           {"** /a read", "line 1: \"**\" is neither"},
           {" # comment", "line 1: \"#\" is neither"},
           {"* / read # all", "line 1: the last words"},
           {"@staff /a read", "line 1: there is no group \"staff\""},
           {"group staff amy", "line 1: a group is"},
           {"group", "line 1: a group is"},
           {"group : amy", "line 1: \"\" cannot be a group"},
           {"group a b: amy", "line 1: \"a b\" cannot be a group"},
           {"group a: amy, bob", "line 1: \"amy,\" is no user name"},
           {"group a: @b", "line 1: the members of a group are users, not groups"},
           {"group a: amy\ngroup a: bob", "line 2: the group \"a\" is defined in line 1 already"},
           {"amy /a read\nbob /a read\namy /a/ none",
            "line 3: line 1 is for the same who and path"},
       }) {
    CAPTURE(text, wrong(text));
    CHECK(wrong(text).starts_with(reason));
  }
  using namespace std::string_view_literals;
  CHECK(wrong("* /a\0b read"sv) == "line 1: there is a control byte");
}

TEST_CASE("a user in a file of rights has at most the bytes of a user", "[rights]") {
  CHECK(rule_of(std::string(64, 'a') + " / read") == std::string(64, 'a') + "||read");
  CHECK(wrong(std::string(65, 'a') + " / read").starts_with("line 1:"));
}

TEST_CASE("a path has at most the bytes of a name", "[rights]") {
  const auto line = [](std::size_t bytes) { return "* /" + std::string(bytes - 1, 'a') + " read"; };
  CHECK(parse_rights(line(kMaxRightsPathBytes)));
  CHECK(wrong(line(kMaxRightsPathBytes + 1)) == "line 1: the path is longer than 4095 bytes");
}

TEST_CASE("a file of rights that is too large is refused", "[rights]") {
  const tests::TemporaryFolder folder;
  folder.write("most", std::string(kMaxRightsBytes, '\n'));
  folder.write("more", std::string(kMaxRightsBytes + 1, '\n'));
  CHECK(fileserver::read_rights(folder.path("most")));
  const auto more = fileserver::read_rights(folder.path("more"));
  REQUIRE_FALSE(more);
  CHECK(more.error().context == folder.path("more") + ": it has more than 1048576 bytes");
}
