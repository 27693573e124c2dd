#include "authserver/csv.h"

#include "tests/catch.h"

using authserver::csv_line;
using authserver::parse_csv_line;

TEST_CASE("an account is read back from its line as it was written", "[authserver]") {
  for (const std::string record : {"$plain$pw", "$plain$a,b", "$plain$say \"hi\"", "$plain$\xff ",
                                   "$argon2id$v=19$m=19456,t=2,p=1$c2FsdA$aGFzaA"}) {
    std::string line = csv_line({"bob", record});
    REQUIRE(line.ends_with('\n'));
    line.pop_back();
    const auto back = parse_csv_line(line);
    REQUIRE(back);
    CHECK(back->user == "bob");
    CHECK(back->record == record);
  }
}

TEST_CASE("fields need no quotes", "[authserver]") {
  const auto account = parse_csv_line("bob,$plain$pw\r");
  REQUIRE(account);
  CHECK(account->record == "$plain$pw");
}

TEST_CASE("a line that is not an account is refused", "[authserver]") {
  const std::string too_long(256, 'x');
  for (const std::string& line :
       {std::string(), std::string("bob"), std::string("bob,"), std::string("bob,a,b"),
        std::string("\"bob,a"), std::string("b b,a"), std::string("\"bob\"x,a"),
        "bob," + too_long}) {
    CAPTURE(line);
    CHECK_FALSE(parse_csv_line(line));
  }
}
