#include "fileserver/http/account_json.h"

#include <string>

#include "tests/catch.h"

namespace {

// "user password", or "nothing".
std::string parsed(std::string json) {
  const auto account = fileserver::parse_account(json);
  if (!account) return "nothing";
  return std::string(account->user) + " " + std::string(account->password);
}

}  // namespace

TEST_CASE("an account is read out of JSON, in any order and with any escapes", "[http]") {
  CHECK(parsed(R"({"user":"amy","password":"secret"})") == "amy secret");
  CHECK(parsed(" {\t\"password\" : \"s\" ,\r\n\"user\":\"a\"}\n") == "a s");
  CHECK(parsed(R"({"us\u0065r":"\u0041","password":"\"\\\/\b\f\n\r\t"})") == "A \"\\/\b\f\n\r\t");
  CHECK(parsed(R"({"user":"a","password":"\u00e4\u2603\ud83d\ude00"})") ==
        "a \u00e4\u2603\U0001f600");
  CHECK(parsed("{\"user\":\"a\",\"password\":\"\u00e4\"}") == "a \u00e4");
  CHECK(parsed(R"({"user":"","password":""})") == " ");
}

TEST_CASE("any JSON that is cut off, or is no account, is nothing", "[http]") {
  const std::string whole = R"({"user":"a","password":"\ud83d\ude00b"})";
  for (std::size_t size = 0; size < whole.size(); ++size)
    CHECK(parsed(whole.substr(0, size)) == "nothing");
  for (const char* json :
       {R"({"user":"a"})", R"({"user":"a","user":"a","password":"b"})",
        R"({"user":"a","password":"b","c":"d"})", R"({"user":"a","password":1})",
        R"({"user":"a","password":"b"}x)", R"({"user":"a","password":"b",})",
        R"({"user":"a" "password":"b"})", R"([{"user":"a","password":"b"}])",
        R"({'user':'a','password':'b'})", R"({"user":"a","password":"\ud83d"})",
        R"({"user":"a","password":"\ud83d\u0041"})", R"({"user":"a","password":"\ude00"})",
        R"({"user":"a","password":"\u12g4"})", R"({"user":"a","password":"\x"})",
        "{\"user\":\"a\",\"password\":\"\n\"}", "{\"user\":\"a\",\"password\":\"\xe4\"}"}) {
    CAPTURE(json);
    CHECK(parsed(json) == "nothing");
  }
  for (const char* json : {"null", "\"user\"", "user=a&password=b", "\xff", "{,\"user\":\"a\"}",
                           "{\"user\":\"a\",\"password\":\"b\"}}"})
    CHECK(parsed(json) == "nothing");
}
