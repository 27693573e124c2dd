#include "wire/request.h"

#include <string>

#include "tests/catch.h"
#include "wire/error_word.h"

using base::ErrorCode;
using namespace wire;

namespace {

// Describes what a line from a client is parsed to.
std::string client(std::string_view line) {
  struct Words {
    std::string operator()(const Ping&) { return "ping"; }
    std::string operator()(const New& request) { return "new " + both(request.account); }
    std::string operator()(const Get& request) { return "get " + both(request.account); }
    std::string operator()(const Auth& request) { return "auth " + both(request.account); }
    std::string operator()(const FileName& file) { return "file " + std::string(file.name); }
    std::string operator()(const Refused& refused) {
      return std::string(wire::word_of(refused.code)) + (refused.was_get ? " get" : "");
    }
    static std::string both(Credentials account) {
      return "[" + std::string(account.user) + "][" + std::string(account.password) + "]";
    }
  };
  return std::visit(Words(), parse_client_line(line));
}

bool is_auth_syntax_error(std::string_view line) {
  const auto request = parse_auth_line(line);
  const auto* const refused = std::get_if<Refused>(&request);
  return refused != nullptr && refused->code == ErrorCode::kSyntax;
}

}  // namespace

TEST_CASE("the compact form drops nothing", "[wire]") {
  CHECK(client("get:bob:pw") == "get [bob][pw]");
  CHECK(client("new:bob: pw ") == "new [bob][ pw ]");
  CHECK(client("get:bob:a:b:c") == "get [bob][a:b:c]");
}

TEST_CASE("the spaced form drops one space behind each colon", "[wire]") {
  CHECK(client("get: bob: pw") == "get [bob][pw]");
  CHECK(client("get: bob:pw") == "get [bob][pw]");
  CHECK(client("new: bob:  pw") == "new [bob][ pw]");
  CHECK(client("get:  bob: pw") == "invalid get");
  CHECK(client("get:bob : pw") == "invalid get");
}

TEST_CASE("a missing colon is a syntax error, an empty part is invalid", "[wire]") {
  CHECK(client("get:") == "syntax get");
  CHECK(client("get:bob") == "syntax get");
  CHECK(client("new: bob") == "syntax");
  CHECK(client("get::") == "invalid get");
  CHECK(client("new::pw") == "invalid");
  CHECK(client("new:bob:") == "invalid");
  CHECK(client("new: bob: ") == "invalid");
}

TEST_CASE("anything without a verb is a file name", "[wire]") {
  CHECK(client("a.txt") == "file a.txt");
  CHECK(client("GET:bob:pw") == "file GET:bob:pw");
  CHECK(client("get") == "file get");
  CHECK(client("ping ") == "file ping ");
  CHECK(client(" ping") == "file  ping");
  CHECK(client("auth:bob:pw") == "file auth:bob:pw");
  CHECK(client("ping") == "ping");
}

TEST_CASE("an empty line and control bytes are syntax errors before anything else", "[wire]") {
  CHECK(client("") == "syntax");
  for (int byte = 0; byte < 256; ++byte) {
    const bool is_control = byte < 0x20 || byte == 0x7f;
    CAPTURE(byte);
    CHECK((client(std::string("get:bob:p") + static_cast<char>(byte)) == "syntax get") ==
          is_control);
    CHECK((client(std::string("name") + static_cast<char>(byte)) == "syntax") == is_control);
  }
}

TEST_CASE("users have 1 to 64 bytes of a small alphabet", "[wire]") {
  CHECK(is_valid_user("A-Za.z0_9@+"));
  CHECK(is_valid_user(std::string(64, 'u')));
  CHECK_FALSE(is_valid_user(std::string(65, 'u')));
  CHECK_FALSE(is_valid_user(""));
  const std::string alphabet =
      "ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789._-@+";
  for (int byte = 0; byte < 256; ++byte) {
    const char c = static_cast<char>(byte);
    CAPTURE(byte);
    CHECK(is_valid_user(std::string(1, c)) == (alphabet.find(c) != std::string::npos));
  }
}

TEST_CASE("passwords have 1 to 128 bytes", "[wire]") {
  CHECK(is_valid_password(std::string(128, '\xff')));
  CHECK_FALSE(is_valid_password(std::string(129, 'p')));
  CHECK_FALSE(is_valid_password(""));
  CHECK_FALSE(is_valid_password("a\tb"));
}

TEST_CASE("the authserver knows its own verbs only", "[wire]") {
  CHECK(std::holds_alternative<Auth>(parse_auth_line("auth:bob:pw")));
  CHECK(std::holds_alternative<Auth>(parse_auth_line("auth: bob: pw")));
  CHECK(std::holds_alternative<New>(parse_auth_line("new:bob:pw")));
  CHECK(std::holds_alternative<Ping>(parse_auth_line("ping")));
  for (const char* line :
       {"", "get:bob:pw", "a.txt", "AUTH:bob:pw", "auth", "auth:bob", "pong", "ping\x01"}) {
    CAPTURE(line);
    CHECK(is_auth_syntax_error(line));
  }
}

TEST_CASE("file names stay below their folder", "[wire]") {
  for (const char* name : {"a", "a/b/c.txt", "...", "a..b", ".hidden", "a b", "\xc3\xa9"}) {
    CAPTURE(name);
    CHECK(is_file_name(name));
  }
  for (const char* name :
       {"", "/", "/a", "a/", "a//b", ".", "..", "./a", "a/.", "../a", "a/../b", "a/.."}) {
    CAPTURE(name);
    CHECK_FALSE(is_file_name(name));
  }
}

TEST_CASE("credentials are printed in the compact form, and read back the same", "[wire]") {
  const std::string line = line_of(Auth{{"bob", " p:w "}});
  CHECK(line == "auth:bob: p:w \n");
  const auto back = parse_auth_line(std::string_view(line).substr(0, line.size() - 1));
  CHECK(std::get<Auth>(back).account.password == " p:w ");
}

TEST_CASE("every request is printed as its line, which asks for the same", "[wire]") {
  CHECK(line_of(Ping{}) == "ping\n");
  CHECK(line_of(New{{"amy", "s3"}}) == "new:amy:s3\n");
  CHECK(line_of(Get{{"amy", "s3"}}) == "get:amy:s3\n");
  CHECK(line_of(Auth{{"amy", "s3"}}) == "auth:amy:s3\n");
  CHECK(line_of(FileName{"a b/c.txt"}) == "a b/c.txt\n");
}

TEST_CASE("requests of sessions are read back as they were printed", "[wire]") {
  const std::string token(43, 'T');
  CHECK(line_of(Open{3600, {"amy", "s:3"}}) == "open:3600:amy:s:3\n");
  CHECK(line_of(Token{token}) == "token:" + token + "\n");
  CHECK(line_of(Close{token}) == "close:" + token + "\n");
  CHECK(line_of(NewPassword{{"amy", "o:l"}, "n:w"}) == "password:amy:3:o:l:n:w\n");
  const auto opened = std::get<Open>(parse_auth_line("open:3600:amy:s:3"));
  CHECK(opened.seconds == 3600);
  CHECK(opened.account.password == "s:3");
  const auto changed = std::get<NewPassword>(parse_auth_line("password:amy:3:o:l:n:w"));
  CHECK(changed.account.user == "amy");
  CHECK(changed.account.password == "o:l");
  CHECK(changed.password == "n:w");
  CHECK(std::get<Token>(parse_auth_line("token:x")).token == "x");
}

TEST_CASE("requests of sessions with parts that are missing or not acceptable are refused",
          "[wire]") {
  for (const char* line :
       {"open:", "open:1", "open:1:amy", "open::amy:pw", "open:-1:amy:pw", "open:1x:amy:pw",
        "open:99999999999999999999:amy:pw", "open: 1:amy:pw", "token:", "token", "close:",
        "password:", "password:amy", "password:amy:3", "password:amy:3:old", "password:amy:4:old:n",
        "password:amy:2:old:new", "password:amy:-1:old:new", "password:amy:99999:old:new"}) {
    CAPTURE(line);
    CHECK(is_auth_syntax_error(line));
  }
  for (const char* line : {"open:0:amy:pw", "open:7776001:amy:pw", "open:1::pw", "open:1:a b:pw",
                           "open:1:amy:", "password::3:old:new", "password:amy:0::new",
                           "password:amy:3:old:", "password:a b:1:o:n"}) {
    CAPTURE(line);
    CHECK(std::get<Refused>(parse_auth_line(line)).code == base::ErrorCode::kInvalid);
  }
  CHECK(std::holds_alternative<Open>(parse_auth_line("open:7776000:amy:pw")));
}

TEST_CASE("wishes are read back as they were printed", "[wire]") {
  const std::string id(22, 'I');
  for (const std::string& wish :
       {std::string("who"), std::string("list"), std::string("list:amy"), std::string("add:amy"),
        std::string("reset:amy"), std::string("disable:amy"), std::string("enable:amy"),
        std::string("remove:amy"), std::string("sessions:amy"), "end:amy:" + id,
        std::string("apps"), std::string("app:my phone: 1"), "revoke:" + id,
        std::string("password:n:w")}) {
    CAPTURE(wish);
    const std::string as_line = "as:x:" + wish;
    const auto as = std::get<As>(parse_auth_line(as_line));
    CHECK(as.token == "x");
    CHECK_FALSE(as.account);
    CHECK(line_of(as) == as_line + "\n");
    const std::string by_line = "by:amy:3:s:3:" + wish;
    const auto by = std::get<As>(parse_auth_line(by_line));
    CHECK(by.account->password == "s:3");
    CHECK(line_of(by) == by_line + "\n");
  }
  const std::string end_line = "as:x:end:amy:" + id;
  const auto ended = std::get<As>(parse_auth_line(end_line)).wish;
  CHECK(ended.user == "amy");
  CHECK(ended.operand == id);
  CHECK(std::get<As>(parse_auth_line("as:x:app:a:b")).wish.operand == "a:b");
}

TEST_CASE("wishes with parts that are missing or not acceptable are refused", "[wire]") {
  for (const char* line : {"as:",
                           "as:x",
                           "as::who",
                           "as:x:",
                           "as:x:none",
                           "as:x:who:",
                           "as:x:who:amy",
                           "as:x:add",
                           "as:x:add:amy:",
                           "as:x:add:amy:x",
                           "as:x:end",
                           "as:x:end:amy",
                           "as:x:apps:",
                           "as:x:app",
                           "as:x:revoke",
                           "as:x:password",
                           "as:x:list:amy:",
                           "as:x:Who",
                           "as:x: who",
                           "by:",
                           "by:amy",
                           "by:amy:2:pw",
                           "by:amy:2:pw:",
                           "by:amy:2:pw:none",
                           "by:amy:3:pw:who",
                           "by:amy:-1:pw:who"}) {
    CAPTURE(line);
    CHECK(is_auth_syntax_error(line));
  }
  const std::string id(22, 'I');
  for (const std::string& line :
       {std::string("as:x:add:"), std::string("as:x:add:a b"), "as:x:add:" + std::string(65, 'a'),
        std::string("as:x:list:"), std::string("as:x:app:"), "as:x:app:" + std::string(65, 'a'),
        std::string("as:x:password:"), "as:x:password:" + std::string(129, 'a'),
        std::string("as:x:revoke:"), "as:x:revoke:" + id + "I", "as:x:revoke:" + id.substr(1) + "/",
        "as:x:end::" + id, std::string("as:x:end:amy:"), std::string("by::2:pw:who"),
        std::string("by:amy:0::who"), std::string("by:a b:2:pw:who")}) {
    CAPTURE(line);
    CHECK(std::get<Refused>(parse_auth_line(line)).code == base::ErrorCode::kInvalid);
  }
  CHECK(is_auth_syntax_error(std::string_view("as:x:app:a\x01")));
}

TEST_CASE("a token has 43 characters of base64url", "[wire]") {
  CHECK(is_token("ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmn-_0"));
  CHECK_FALSE(is_token(std::string(42, 'A')));
  CHECK_FALSE(is_token(std::string(44, 'A')));
  for (const char c : {'+', '/', '=', ':', ' ', '\xc3'})
    CHECK_FALSE(is_token(std::string(42, 'A') + c));
}
