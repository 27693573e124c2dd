#include "fileserver/writers.h"

#include <filesystem>
#include <string>
#include <thread>

#include "tests/catch.h"
#include "tests/temporary_folder.h"

using fileserver::Writers;

TEST_CASE("without a file every user may write", "[writers]") {
  Writers writers("");
  CHECK(writers.read());
  writers.read_again();
  CHECK(writers.may_write("amy"));
  CHECK(writers.may_write(""));
}

TEST_CASE("only the users in the file may write", "[writers]") {
  const tests::TemporaryFolder folder;
  Writers writers(folder.path("names"));
  CHECK_FALSE(writers.may_write("amy"));  // it has not been read yet
  folder.write("names", "amy\n\n \t\nBob\r\n" + std::string(64, 'x') + "\nlast");
  REQUIRE(writers.read());
  for (const std::string& user :
       {std::string("amy"), std::string("Bob"), std::string("last"), std::string(64, 'x')})
    CHECK(writers.may_write(user));
  for (const char* user : {"", "am", "amy ", "amyy", "bob", "Bob\r", "\n", "last\n"})
    CHECK_FALSE(writers.may_write(user));
}

TEST_CASE("with an empty file nobody may write", "[writers]") {
  const tests::TemporaryFolder folder;
  folder.write("names", "");
  Writers writers(folder.path("names"));
  CHECK(writers.read());
  CHECK_FALSE(writers.may_write("amy"));
  CHECK_FALSE(writers.may_write(""));
}

TEST_CASE("writers that are read again replace the old ones", "[writers]") {
  const tests::TemporaryFolder folder;
  Writers writers(folder.path("names"));
  folder.write("names", "amy\n");
  REQUIRE(writers.read());
  folder.write("names", "bob\n");
  CHECK(writers.may_write("amy"));
  writers.read_again();
  CHECK(writers.may_write("bob"));
  CHECK_FALSE(writers.may_write("amy"));
}

TEST_CASE("a file of writers that is wrong leaves the old ones", "[writers]") {
  const tests::TemporaryFolder folder;
  const std::string path = folder.path("names");
  Writers writers(path);
  folder.write("names", "amy\n");
  REQUIRE(writers.read());
  for (const std::string& wrong :
       {std::string("amy bob\n"), std::string("bob\n amy\n"), std::string("bob\n#amy\n"),
        std::string("bob\na\0b\n", 8), std::string(65, 'x'), std::string(100'000, 'x'),
        std::string("bob\n\xc3\xa4\n")}) {
    folder.write("names", wrong);
    const auto read = writers.read();
    REQUIRE_FALSE(read);
    CHECK(read.error().code == base::ErrorCode::kInvalid);
    CHECK(read.error().context.starts_with(path));
    writers.read_again();
    CHECK(writers.may_write("amy"));
    CHECK_FALSE(writers.may_write("bob"));
  }
  std::filesystem::remove(path);
  CHECK(writers.read().error().context == path + ": No such file or directory");
  std::filesystem::create_directory(path);
  CHECK_FALSE(writers.read());
  CHECK(writers.may_write("amy"));
}

TEST_CASE("writers are asked while they are read again", "[writers]") {
  const tests::TemporaryFolder folder;
  folder.write("names", "amy\nbob\n");
  Writers writers(folder.path("names"));
  REQUIRE(writers.read());
  std::thread reader([&] {
    for (int i = 0; i < 200; ++i) writers.read_again();
  });
  bool was_ever_refused = false;
  for (int i = 0; i < 20'000; ++i) was_ever_refused |= !writers.may_write("bob");
  reader.join();
  CHECK_FALSE(was_ever_refused);
}
