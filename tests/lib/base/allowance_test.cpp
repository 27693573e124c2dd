#include "base/allowance.h"

#include "tests/catch.h"

TEST_CASE("an allowance has a burst, and then one event for each interval", "[base]") {
  base::Allowance allowance(3, 10);
  for (int i = 0; i < 3; ++i) CHECK(allowance.take(1000));
  CHECK_FALSE(allowance.take(1000));
  CHECK_FALSE(allowance.take(1009));
  CHECK(allowance.take(1010));
  CHECK_FALSE(allowance.take(1010));
}

TEST_CASE("an allowance that was not used is full again, and no more than that", "[base]") {
  base::Allowance allowance(3, 10);
  for (int i = 0; i < 3; ++i) CHECK(allowance.take(1000));
  for (int i = 0; i < 3; ++i) CHECK(allowance.take(5000));
  CHECK_FALSE(allowance.take(5000));
}
