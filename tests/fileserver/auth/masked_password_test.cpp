#include "fileserver/auth/masked_password.h"

#include "tests/catch.h"

using fileserver::masked;
using fileserver::UnmaskedPassword;

TEST_CASE("a masked password is not readable, and is found again", "[auth]") {
  for (const std::string& password : {std::string("x"), std::string(128, 'p')}) {
    const std::string mask = masked(password);
    CHECK(UnmaskedPassword(mask).view() == password);
    CHECK(masked(password) != mask);
    if (password.size() > 1) CHECK(mask.find("pppp") == std::string::npos);
  }
}
