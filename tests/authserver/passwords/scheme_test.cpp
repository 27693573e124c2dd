#include "authserver/passwords/scheme.h"

#include "tests/catch.h"

using namespace authserver;

TEST_CASE("a record matches its password and no other, in both schemes", "[passwords]") {
  REQUIRE(start_cryptography());
  for (const Scheme scheme : {Scheme::kArgon2id, Scheme::kPlain}) {
    const std::string password = "p\xc3\xa4ss:word ";
    const auto record = make_record(scheme, password);
    REQUIRE(record);
    CHECK(scheme_of(*record) == scheme);
    CHECK(matches(*record, password));
    CHECK_FALSE(matches(*record, "p\xc3\xa4ss:word"));
    CHECK_FALSE(matches(*record, ""));
    CHECK_FALSE(matches(*record, password + "x"));
  }
}

TEST_CASE("an argon2id record names its costs and hides the password", "[passwords]") {
  REQUIRE(start_cryptography());
  const auto record = make_record(Scheme::kArgon2id, "password");
  CHECK(record->starts_with("$argon2id$v=19$m=19456,t=2,p=1$"));
  CHECK(record->find("password") == std::string::npos);
  CHECK(*make_record(Scheme::kArgon2id, "password") != *record);
}

TEST_CASE("a record that costs more memory or time than ours is not affordable", "[passwords]") {
  REQUIRE(start_cryptography());
  const auto argon2id = [](const std::string& costs) {
    return "$argon2id$v=19$" + costs + "$c2Fs$aA";
  };
  CHECK(is_affordable(*make_record(Scheme::kArgon2id, "password")));
  CHECK(is_affordable(*make_record(Scheme::kPlain, "$argon2id$v=19$m=524288,t=9,p=1$")));
  CHECK(is_affordable(argon2id("m=19456,t=2,p=1")));
  CHECK(is_affordable(argon2id("m=12288,t=3,p=1")));
  for (const char* costs :
       {"m=19457,t=1,p=1", "m=524288,t=1,p=1", "m=19456,t=3,p=1", "m=8,t=4294967295,p=1",
        "m=99999999999,t=1,p=1", "t=1,m=8,p=1", "m=-1,t=1,p=1", ""})
    CHECK_FALSE(is_affordable(argon2id(costs)));
  CHECK_FALSE(is_affordable("$argon2i$v=19$m=19456,t=2,p=1$c2Fs$aA"));
}

TEST_CASE("a record that is garbage matches nothing", "[passwords]") {
  REQUIRE(start_cryptography());
  for (const char* record : {"", "password", "$argon2id$", "$2b$12$abc"})
    CHECK_FALSE(matches(record, "password"));
}
