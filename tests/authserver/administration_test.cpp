#include "authserver/administration.h"

#include <algorithm>
#include <string>
#include <string_view>

#include "tests/authserver/session_scene.h"
#include "tests/catch.h"

using namespace authserver;
using namespace tests;

TEST_CASE("who asks is told who he is", "[authserver]") {
  People people;
  Held& held = people.held;
  CHECK(told(held, "as:" + people.sessions[0] + ":who") == "amy admin session");
  CHECK(told(held, "as:" + people.sessions[1] + ":who") == "bob user session");
  CHECK(told(held, "by:amy:5:right:who") == "amy admin password");
  CHECK(told(held, "by:bob:43:" + people.app(1) + ":who") == "bob user app");
  CHECK(told(held, "as:" + people.app(0) + ":who") == "amy admin app");
  for (const std::string& line :
       {std::string("by:amy:5:wrong:who"), std::string("by:eve:5:right:who"),
        "as:" + std::string(43, 'x') + ":who", std::string("as:x:who"),
        "by:amy:43:" + people.app(1) + ":who", "by:bob:43:" + people.sessions[1] + ":who"}) {
    CAPTURE(line);
    CHECK(said_to(line + "\n", held) == kDenied);
  }
}

TEST_CASE("what is an administrator's is denied to everybody else, and changes nothing",
          "[authserver]") {
  People people;
  Held& held = people.held;
  const std::string link = told(held, "by:amy:5:right:reset:bob");
  const auto before = held.records;
  const std::string id(22, 'I');
  for (const std::string& wish :
       {std::string("list"), std::string("add:eve"), std::string("reset:amy"),
        std::string("disable:amy"), std::string("enable:amy"), std::string("remove:amy"),
        std::string("sessions:amy"), "end:amy:" + id}) {
    for (const std::string& who :
         {"as:" + people.sessions[1], std::string("by:bob:5:right"), "by:bob:43:" + people.app(1),
          "as:" + people.app(1), "as:" + people.app(0), "by:amy:43:" + people.app(0), "as:" + link,
          std::string("by:amy:5:wrong")}) {
      CAPTURE(wish, who);
      CHECK(said_to(who + ":" + wish + "\n", held) == kDenied);
    }
  }
  // What is one's own is not for a program, nor for who has a link.
  for (const std::string& wish :
       {std::string("apps"), std::string("app:x"), "revoke:" + people.id_of_app(1),
        std::string("sessions:bob"), "end:bob:" + people.id_of_app(1), std::string("password:x")}) {
    for (const std::string& who :
         {"by:bob:43:" + people.app(1), "as:" + people.app(1), std::string("by:bob:5:wrong")}) {
      CAPTURE(wish, who);
      CHECK(said_to(who + ":" + wish + "\n", held) == kDenied);
    }
    if (wish != "password:x") CHECK(said_to("as:" + link + ":" + wish + "\n", held) == kDenied);
  }
  for (const std::string& who : {"as:" + people.sessions[1], std::string("by:bob:5:right")})
    CHECK(said_to(who + ":password:x\n", held) == kDenied);
  CHECK(said_to("as:" + link + ":who\n", held) == kDenied);
  CHECK(held.records == before);
}

TEST_CASE("an administrator lists, adds, disables, enables and removes", "[authserver]") {
  People people;
  Held& held = people.held;
  const std::string as = "as:" + people.sessions[0] + ":";
  const std::string link = told(held, as + "add:cat");
  CHECK(wire::is_token(link));
  CHECK(told(held, as + "list") == "amy admin\nbob\ncat invited\n");
  CHECK(told(held, as + "list:amy") == "bob\ncat invited\n");
  CHECK(said_to(as + "list:cat\n", held) == "OK\n");
  CHECK(said_to("auth:cat:right\n" + as + "add:cat\n", held) ==
        kDenied + "ERR exists user name taken\n");
  CHECK(said_to(as + "disable:bob\nauth:bob:right\n", held) == "OK\n" + kDenied);
  CHECK(told(held, as + "list:amy") == "bob disabled\ncat invited\n");
  CHECK(said_to(as + "enable:bob\nauth:bob:right\n", held) == "OK\nOK\n");
  CHECK(said_to("auth:bob:" + people.app(1) + "\n", held) == "OK\n");
  CHECK(said_to(as + "remove:bob\nauth:bob:right\n", held) == "OK\n" + kDenied);
  CHECK(said_to("token:" + people.sessions[1] + "\nauth:bob:" + people.app(1) + "\n", held) ==
        kDenied + kDenied);
  for (const char* wish : {"disable:amy", "remove:amy"})
    CHECK(said_to(as + wish + "\n", held) == kInvalid);
  for (const char* wish : {"disable:eve", "enable:eve", "remove:eve", "reset:eve", "sessions:eve"})
    CHECK(said_to(as + wish + "\n", held).starts_with("ERR not-found"));
  // Nothing of bob is left.
  CHECK(said_to(as + "remove:cat\n", held) == "OK\n");
  People others;
  const std::string of_amy = "as:" + others.sessions[0] + ":remove:bob\n";
  const auto rows = others.held.records.size();
  CHECK(said_to(of_amy, others.held) == "OK\n");
  CHECK(rows_in_use(others.held).size() == rows - 5);  // the account, two tokens, their places
}

TEST_CASE("a list has 500 users at most, and goes on behind a name", "[authserver]") {
  People people;
  Held& held = people.held;
  for (int i = 1000; i < 1700; ++i) held.records["user" + std::to_string(i)] = "$plain$x";
  const std::string first = told(held, "by:amy:5:right:list");
  CHECK(std::ranges::count(first, '\n') == 500);
  CHECK(first.ends_with("user1497\n"));
  const std::string rest = told(held, "by:amy:5:right:list:user1497");
  CHECK(rest.starts_with("user1498\n"));
  CHECK(std::ranges::count(rest, '\n') == 202);
}

TEST_CASE("a link sets the password once, and a newer one ends it", "[authserver]") {
  People people;
  Held& held = people.held;
  const std::string as = "as:" + people.sessions[0] + ":";
  const std::string older = told(held, as + "reset:bob");
  const std::string link = told(held, as + "reset:bob");
  CHECK(said_to("as:" + older + ":password:x\n", held) == kDenied);
  // Until it is used the old password counts.
  CHECK(said_to("auth:bob:right\ntoken:" + link + "\nauth:bob:" + link + "\n", held) ==
        "OK\n" + kDenied + kDenied);
  CHECK(said_to("close:" + link + "\n", held) == "OK\n");
  CHECK(said_to(as + "disable:bob\nas:" + link + ":password:x\n" + as + "enable:bob\n", held) ==
        "OK\n" + kDenied + "OK\n");
  CHECK(said_to("as:" + link + ":password:n:w\nauth:bob:n:w\nauth:bob:right\n", held) ==
        "OK\nOK\n" + kDenied);
  CHECK(said_to("as:" + link + ":password:again\n", held) == kDenied);
  CHECK(said_to("token:" + people.sessions[1] + "\nauth:bob:" + people.app(1) + "\n", held) ==
        kDenied + "OK\n");
  const std::string added = told(held, as + "add:cat");
  CHECK(said_to("password:bob:3:n:w:third\nas:" + added + ":password:meow\nauth:cat:meow\n",
                held) == "OK\nOK\nOK\n");
  const std::string stale = told(held, as + "reset:bob");
  CHECK(said_to("password:bob:5:third:fourth\nas:" + stale + ":password:x\n", held) ==
        "OK\n" + kDenied);
}

TEST_CASE("a link that a newer one ends while its password is hashed sets none", "[authserver]") {
  People people;
  const std::string link = told(people.held, "as:" + people.sessions[0] + ":reset:bob");
  SessionScene scene("as:" + link + ":password:x\nauth:bob:right\n");
  scene.held.records = people.held.records;
  int looks = 0;
  scene.held.before_find = [&](std::string_view user) {
    if (user == "bob" && ++looks == 2) scene.held.records.erase(authserver::row_of_token(link));
  };
  scene.serve();
  CHECK(scene.all_received() == kDenied + "OK\n");
  CHECK(looks >= 2);
}

TEST_CASE("of two links that authservers make at once one is left", "[authserver]") {
  People people;
  Held& held = people.held;
  HeldStore store(held);
  const serve::Shared<authserver::SharedTokenState> tokens;
  const std::string first = *authserver::invite(store, *tokens, "bob");
  const std::string row = authserver::row_of_token(first);
  // The other one writes its token behind its place, when this one has looked at that.
  held.before_replace_if = [&, token = held.records[row]] { held.records[row] = token; };
  const std::string second = *authserver::invite(store, *tokens, "bob");
  held.before_replace_if = [] {};
  CHECK(said_to("as:" + first + ":password:x\n", held) == kDenied);
  CHECK(said_to("as:" + second + ":password:x\n", held) == "OK\n");
}

TEST_CASE("what cannot be tidied up behind a change does not make it fail", "[authserver]") {
  People people;
  Held& held = people.held;
  for (const char* line : {"password:bob:5:right:new\n", "by:amy:5:right:remove:bob\n"}) {
    SessionScene scene(line);
    scene.held.records = held.records;
    // The store fails once it has taken the change.
    const auto before = held.records["bob"];
    scene.held.before_find = [&](std::string_view) {
      const auto found = scene.held.records.find("bob");
      scene.held.are_tokens_down = found == scene.held.records.end() || found->second != before;
    };
    scene.serve();
    CHECK(scene.all_received() == "OK\n");
    held.records = scene.held.records;
  }
  CHECK(said_to("token:" + people.sessions[1] + "\nauth:bob:" + people.app(1) + "\n", held) ==
        kDenied + kDenied);
}
