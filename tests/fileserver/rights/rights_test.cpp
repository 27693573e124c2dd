#include "fileserver/rights/rights.h"

#include <filesystem>
#include <string>
#include <thread>

#include "tests/catch.h"
#include "tests/temporary_folder.h"

using fileserver::Rights;
using fileserver::UserRights;

TEST_CASE("without a file of rights every user may do everything", "[rights]") {
  Rights rights("");
  CHECK(rights.read());
  rights.read_again();
  const UserRights amy = rights.of("amy");
  CHECK(amy.may_write_all(""));
  CHECK(amy.may_list("a"));
  CHECK_FALSE(rights.has("amy"));
}

TEST_CASE("with an empty file of rights nobody may do anything", "[rights]") {
  const tests::TemporaryFolder folder;
  folder.write("rights", "\n");
  Rights rights(folder.path("rights"));
  for (int i = 0; i < 2; ++i) {  // also before it is read
    const UserRights amy = rights.of("amy");
    CHECK_FALSE(amy.may_read(""));
    CHECK_FALSE(amy.may_read("a"));
    CHECK_FALSE(amy.may_list("a"));
    CHECK(amy.may_list(""));
    REQUIRE(rights.read());
  }
}

TEST_CASE("rights that are read again hold for the next question", "[rights]") {
  const tests::TemporaryFolder folder;
  folder.write("rights", "group staff: bob\namy / read\n");
  Rights rights(folder.path("rights"));
  REQUIRE(rights.read());
  const UserRights before = rights.of("amy");
  CHECK(rights.has("amy"));
  CHECK(rights.has("bob"));
  CHECK_FALSE(rights.has("staff"));
  folder.write("rights", "eve / read\n");
  rights.read_again();
  CHECK(before.may_read("a"));  // of a request that is under way
  CHECK_FALSE(rights.of("amy").may_read("a"));
  CHECK(rights.of("eve").may_read("a"));
  CHECK_FALSE(rights.has("bob"));
}

TEST_CASE("a file of rights that is wrong leaves the old ones", "[rights]") {
  const tests::TemporaryFolder folder;
  const std::string path = folder.path("rights");
  folder.write("rights", "amy / read\n");
  Rights rights(path);
  REQUIRE(rights.read());
  folder.write("rights", "bob / read\n\namy\n");
  const auto read = rights.read();
  REQUIRE_FALSE(read);
  CHECK(read.error().context.starts_with(path + " line 3: "));
  rights.read_again();
  std::filesystem::remove(path);
  CHECK(rights.read().error().context == path + ": No such file or directory");
  std::filesystem::create_directory(path);
  CHECK(rights.read().error().context == path + ": Is a directory");
  CHECK(rights.of("amy").may_read("a"));
  CHECK_FALSE(rights.of("bob").may_read("a"));
}

TEST_CASE("rights are asked while they are read again", "[rights]") {
  const tests::TemporaryFolder folder;
  folder.write("rights", "amy / read\n* /a none\n");
  Rights rights(folder.path("rights"));
  REQUIRE(rights.read());
  std::thread reader([&] {
    for (int i = 0; i < 200; ++i) rights.read_again();
  });
  bool was_ever_wrong = false;
  for (int i = 0; i < 20'000; ++i) {
    const UserRights amy = rights.of("amy");
    was_ever_wrong |= !amy.may_read("b") || amy.may_read("a/b");
  }
  reader.join();
  CHECK_FALSE(was_ever_wrong);
}
