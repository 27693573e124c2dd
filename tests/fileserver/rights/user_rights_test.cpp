#include "fileserver/rights/user_rights.h"

#include "tests/catch.h"

using fileserver::Right;
using fileserver::UserRights;

TEST_CASE("who has a link may only what is inside of what it names", "[fileserver]") {
  const UserRights folder = UserRights().within({"docs", true, Right::kRead});
  for (const char* const inside : {"docs", "docs/a", "docs/a/b"}) {
    CHECK(folder.may_read(inside));
    CHECK(folder.may_list(inside));
    CHECK_FALSE(folder.may_write(inside));
    CHECK_FALSE(folder.may_write_all(inside));
  }
  for (const char* const outside : {"", "doc", "docs2", "docs2/a", "other/docs"}) {
    CHECK_FALSE(folder.may_read(outside));
    CHECK_FALSE(folder.may_read_all(outside));
    CHECK_FALSE(folder.may_list(outside));
  }
  const UserRights file = UserRights().within({"docs/a", false, Right::kRead});
  CHECK(file.may_read("docs/a"));
  CHECK_FALSE(file.may_read("docs/a/b"));
  CHECK_FALSE(file.may_read("docs"));
  const UserRights all = UserRights().within({"", true, Right::kReadWrite});
  CHECK(all.may_write("docs/a"));
}
