#include "http/if_header.h"

#include <string>

#include "tests/catch.h"

using http::IfCondition;
using http::parse_if;

namespace {

std::string printed(const http::IfHeader& header) {
  std::string text;
  for (const http::IfList& list : header.lists) {
    text += list.path ? std::string(*list.path) : std::string("*");
    for (const IfCondition& condition : list.conditions) {
      text += condition.is_negated ? " !" : " ";
      text += condition.kind == IfCondition::Kind::kTag ? "tag=" : "token=";
      text += condition.text;
    }
    text += ";";
  }
  return text;
}

std::string parsed_if(std::string_view value) {
  const auto header = parse_if(value);
  return header ? printed(*header) : "malformed";
}

std::string many_conditions(std::size_t conditions) {
  std::string value;
  for (std::size_t i = 0; i < conditions; ++i) value += i % 7 == 0 ? ")(<a:b>" : "<a:b>";
  return value.substr(1) + ")";
}

}  // namespace

TEST_CASE("lists of If are about the request, or about what is named before them", "[http]") {
  CHECK(parsed_if("(<urn:a>)") == "* token=urn:a;");
  CHECK(parsed_if("(<urn:a> [\"b\"]) (Not <DAV:no-lock>)") ==
        "* token=urn:a tag=\"b\";* !token=DAV:no-lock;");
  CHECK(parsed_if("(not<urn:a>Not[W/\"b c\"])") == "malformed");  // no tag has a blank
  CHECK(parsed_if("(not<urn:a>NOT[W/\"b\"])") == "* !token=urn:a !tag=W/\"b\";");
  CHECK(parsed_if("</a%20b> (<urn:a>)(<urn:b>) <http://x:1/c/?q> (<urn:c>)") ==
        "/a%20b token=urn:a;/a%20b token=urn:b;/c/ token=urn:c;");
  CHECK(parsed_if("<https://x>([\"\"])") == " tag=\"\";");
  CHECK(parsed_if("<urn:x>([\"\"])") == " tag=\"\";");
  CHECK(parsed_if("\t( [\"a]b\"]\t) ") == "* tag=\"a]b\";");
}

TEST_CASE("an If that is malformed is told apart", "[http]") {
  for (const char* const value : {"",
                                  " ",
                                  "()",
                                  "(",
                                  "(<urn:a>",
                                  "<urn:a>",
                                  "urn:a",
                                  "(urn:a)",
                                  "(<a>)",
                                  "(<:a>)",
                                  "(<>)",
                                  "(<urn:a)",
                                  "(<urn a:b>)",
                                  "(<urn:<a>)",
                                  "(Not)",
                                  "(Not Not <urn:a>)",
                                  "(N <urn:a>)",
                                  "([a])",
                                  "([\"a])",
                                  "([\"a\")",
                                  "([W\"a\"])",
                                  "([])",
                                  "(<urn:a>))",
                                  "(<urn:a>),(<urn:b>)",
                                  "</a>",
                                  "</a></b>(<urn:a>)",
                                  "(<urn:a>)</b>(<urn:b>)",
                                  "</a>(<urn:a>)</b>",
                                  "<a>(<urn:a>)",
                                  "<>(<urn:a>)",
                                  "(<urn:a>)x",
                                  "((<urn:a>))"}) {
    INFO(value);
    CHECK(!parse_if(value));
  }
}

TEST_CASE("the conditions of an If are bounded", "[http]") {
  CHECK(parse_if(many_conditions(http::kMaxIfConditions)));
  CHECK(!parse_if(many_conditions(http::kMaxIfConditions + 1)));
}

TEST_CASE("an If holds if all of one list hold", "[http]") {
  const auto holds = [](std::string_view value) {
    return http::holds(*parse_if(value), [](const auto& path, const IfCondition& condition) {
      return condition.text == (path ? "urn:there" : "urn:here") || condition.text == "\"tag\"";
    });
  };
  CHECK(holds("(<urn:here>)"));
  CHECK(!holds("(<urn:there>)"));
  CHECK(holds("</x>(<urn:there>)"));
  CHECK(!holds("(<urn:here> <urn:there>)"));
  CHECK(holds("(<urn:here> Not <urn:there> [\"tag\"])"));
  CHECK(!holds("(Not <urn:here>)"));
  CHECK(holds("(<urn:there>) (<urn:other>) ([\"tag\"])"));
  CHECK(!holds("</x>(<urn:here>) </x>(Not [\"tag\"])"));
}

TEST_CASE("a token of Lock-Token stands in angle brackets", "[http]") {
  CHECK(http::parse_lock_token("<urn:uuid:a>") == "urn:uuid:a");
  for (const char* const value :
       {"", "urn:a", "<urn:a", "<urn:a> x", "<>", "<a>", "(<urn:a>)", "<urn:a>x", "<urn:a><urn:b>"})
    CHECK(!http::parse_lock_token(value));
}

TEST_CASE("the first time of Timeout that is understood counts", "[http]") {
  CHECK(http::parse_timeout("Second-600") == 600);
  CHECK(http::parse_timeout("Infinite, Second-600") == UINT32_MAX);
  CHECK(http::parse_timeout("Extend, Second-, Second-x, second-5, Second-6") == 5);
  CHECK(http::parse_timeout("Second-4100000000") == 4'100'000'000);
  CHECK(http::parse_timeout("Second-9999999999999999999") == UINT32_MAX);
  CHECK(!http::parse_timeout(""));
  CHECK(!http::parse_timeout("600"));
  for (const char* const value : {"Second--1", "Second-", "Second-1x", "Second- 5", ",,,,"})
    CHECK(!http::parse_timeout(value));
}
