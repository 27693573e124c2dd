#include "flags/nearest.h"

#include "tests/catch.h"

using flags::edit_distance;
using flags::nearest;

TEST_CASE("the distance of two words counts letters and swaps", "[flags]") {
  CHECK(edit_distance("root", "root") == 0);
  CHECK(edit_distance("root", "rot") == 1);
  CHECK(edit_distance("rot", "root") == 1);
  CHECK(edit_distance("boot", "root") == 1);
  CHECK(edit_distance("orot", "root") == 1);
  CHECK(edit_distance("", "root") == 4);
}

TEST_CASE("a name that is close was meant", "[flags]") {
  const std::vector<std::string> names{"listen", "listings", "root", "max-connections"};
  CHECK(nearest("prot", names) == "root");
  CHECK(nearest("listem", names) == "listen");
  CHECK(nearest("listing", names) == "listings");
  CHECK(nearest("max_conections", names) == "max-connections");
}

TEST_CASE("a name that begins with what was typed was meant", "[flags]") {
  CHECK(nearest("max", {"root", "max-connections"}) == "max-connections");
  CHECK(nearest("ma", {"root", "max-connections"}).empty());
}

TEST_CASE("nothing was meant by a word that is like no name", "[flags]") {
  CHECK(nearest("fish", {"root", "listen"}).empty());
  CHECK(nearest("", {"root", "a"}).empty());
  CHECK(nearest(std::string(100'000, 'x'), {"root"}).empty());
}
