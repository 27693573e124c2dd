#include "authserver/session.h"

#include <algorithm>
#include <string>
#include <thread>

#include "authserver/account_marks.h"
#include "authserver/administration.h"
#include "tests/authserver/session_scene.h"
#include "tests/catch.h"

using namespace authserver;
using namespace tests;

TEST_CASE("questions that came together are one question to the store, answered in their order",
          "[authserver]") {
  SessionScene scene("auth:amy:right\nauth:bob:wrong\nauth:bob:right\n");
  scene.serve();
  CHECK(scene.all_received() == "OK\n" + kDenied + "OK\n");
  CHECK(scene.held.asked_for == std::vector<std::size_t>{3});
}

TEST_CASE("a question alone is asked alone", "[authserver]") {
  SessionScene scene("auth:amy:right\n");
  scene.serve();
  CHECK(scene.all_received() == "OK\n");
  CHECK(scene.held.asked_for == std::vector<std::size_t>{1});
}

TEST_CASE("other requests between questions are answered in their place", "[authserver]") {
  SessionScene scene(
      "auth:amy:right\nauth:cat:right\nnew:cat:right\nauth:cat:right\nauth:amy:wrong\n"
      "ping\nauth:\nauth:bob:right\nhello\n");
  scene.held.records["cat"] = "$plain$other";
  scene.serve();
  CHECK(scene.all_received() == "OK\n" + kDenied + "ERR exists user name taken\n" + kDenied +
                                    kDenied + "OK\n" +
                                    "ERR syntax not a request\nOK\nERR syntax not a request\n");
  CHECK(scene.held.asked_for == std::vector<std::size_t>{2, 2, 1});
}

TEST_CASE("at most 32 questions are asked together", "[authserver]") {
  std::string lines;
  for (int i = 0; i < 70; ++i) lines += "auth:amy:right\n";
  SessionScene scene(lines);
  scene.serve();
  std::string expected;
  for (int i = 0; i < 70; ++i) expected += "OK\n";
  CHECK(scene.all_received() == expected);
  CHECK(scene.held.asked_for == std::vector<std::size_t>{32, 32, 6});
}

TEST_CASE("a store that is down makes all questions unavailable", "[authserver]") {
  SessionScene scene("auth:amy:right\nauth:bob:right\n");
  scene.held.is_down = true;
  scene.serve();
  const std::string all = scene.all_received();
  CHECK(all.find("ERR unavailable", all.find('\n')) == all.find('\n') + 1);
  CHECK(scene.outages.all.is_on());
}

TEST_CASE("with a connection to the store for each request each question is asked alone",
          "[authserver]") {
  SessionScene scene("auth:amy:right\nauth:bob:right\n", StoreConnection::kPerRequest);
  scene.serve();
  CHECK(scene.all_received() == "OK\nOK\n");
  CHECK(scene.held.asked_for == std::vector<std::size_t>{1, 1});
}

TEST_CASE("answers that are ready do not wait for a hash behind them", "[authserver]") {
  SessionScene scene("auth:amy:right\nauth:bob:right\nauth:eve:guess\n");
  scene.held.records["eve"] = *make_record(Scheme::kArgon2id, "right");
  std::optional<HashLanes::Turn> only_lane(std::in_place, scene.shared->lanes, 0, INT64_MAX);
  std::thread server([&] { scene.serve(); });
  // Nobody can compute the hash yet. So whatever comes now was sent before it.
  CHECK(scene.received() == "OK\nOK\n");
  only_lane.reset();
  CHECK(scene.all_received() == kDenied);
  server.join();
}

namespace {

const std::string kHolder = "OK 8\nuser amy";

}  // namespace

TEST_CASE("a token speaks for its user, between other questions", "[authserver]") {
  Held held;
  const std::string token = opened(held, "open:9999:amy:right\n");
  CHECK(wire::is_token(token));
  const std::string other = opened(held, "open:9999:amy:right\n");
  CHECK(token != other);
  held.asked_for.clear();
  CHECK(said_to("token:" + token + "\nauth:bob:right\ntoken:x\ntoken:" + std::string(43, 'x') +
                    "\nauth:bob:wrong\ntoken:" + other + "\nping\ntoken:" + token + "\n",
                held) ==
        kHolder + "OK\n" + kDenied + kDenied + kDenied + kHolder + "OK\n" + kHolder);
  CHECK(held.asked_for == std::vector<std::size_t>{3, 4, 1, 1});
  for (const auto& [name, record] : held.records) {
    CHECK(name.find(token) == std::string::npos);
    CHECK(record.find(token) == std::string::npos);
  }
}

TEST_CASE("a token ends with its time, its account, its password, and when it is closed",
          "[authserver]") {
  Held held;
  const std::string token = opened(held, "open:9999:amy:right\n");
  const std::string line = "token:" + token + "\n";
  const std::string row = row_of_token(token);

  Held ended = held;
  auto record = *parse_token_record(ended.records[row]);
  record.ends_s -= 9999;
  ended.records[row] = text_of(record);
  CHECK(said_to(line, ended) == kDenied);
  CHECK_FALSE(ended.records.contains(row));

  Held removed = held;
  removed.records.erase("amy");
  CHECK(said_to(line, removed) == kDenied);
  Held changed = held;
  changed.records["amy"] = "$plain$other";
  CHECK(said_to(line, changed) == kDenied);

  Held closed = held;
  CHECK(said_to("close:" + token + "\n" + line + "close:" + token + "\nclose:x\n", closed) ==
        "OK\n" + kDenied + "OK\nOK\n");
  CHECK(rows_in_use(closed).size() == 2);  // nothing is left but the accounts
  CHECK(said_to(line, held) == kHolder);
}

TEST_CASE("the row of a token is no use for another one", "[authserver]") {
  Held held;
  const std::string token = opened(held, "open:9999:amy:right\n");
  const std::string forged(43, 'f');
  held.records[row_of_token(forged)] = held.records[row_of_token(token)];
  CHECK(said_to("token:" + forged + "\n", held) == kDenied);
}

TEST_CASE("a wrong password opens nothing, and changes none", "[authserver]") {
  Held held;
  CHECK(said_to("open:9999:amy:wrong\nopen:9999:eve:right\npassword:amy:5:wrong:new\n"
                "password:eve:5:right:new\nopen:0:amy:right\nauth:amy:right\n",
                held) == kDenied + kDenied + kDenied + kDenied +
                             "ERR invalid user name or password not acceptable\nOK\n");
  CHECK(held.records.size() == 2);
}

TEST_CASE("a new password ends all sessions, also if it is the old one", "[authserver]") {
  Held held;
  const std::string token = opened(held, "open:9999:amy:right\n");
  CHECK(said_to("password:amy:5:right:right\ntoken:" + token + "\nauth:amy:right\n", held) ==
        "OK\n" + kDenied + "OK\n");
  CHECK(said_to("password:amy:5:right:new\nauth:amy:right\nauth:amy:new\n", held) ==
        "OK\n" + kDenied + "OK\n");
  CHECK(rows_in_use(held).size() == 2);
}

TEST_CASE("a user has so many sessions, and a further one ends the oldest", "[authserver]") {
  Held held;
  std::vector<std::string> tokens;
  for (int i = 0; i < kSessionPlaces; ++i) {
    tokens.push_back(opened(held, "open:9999:amy:right\n"));
    const std::string row = row_of_token(tokens.back());
    for (auto& [name, text] : held.records) {  // as if it were opened later than those before it
      const auto at = text.find(row);
      if (at == std::string::npos) continue;
      text = text.substr(0, at + row.size() + 1) + std::to_string(1000 + i) + " 9999999999";
    }
  }
  const std::size_t rows = held.records.size();
  const std::string further = opened(held, "open:9999:amy:right\n");
  CHECK(held.records.size() == rows);
  CHECK(said_to("token:" + tokens[0] + "\n", held) == kDenied);
  CHECK(said_to("token:" + tokens[1] + "\n", held) == kHolder);
  CHECK(said_to("token:" + further + "\n", held) == kHolder);
  // A closed one leaves its place to the next.
  CHECK(said_to("close:" + tokens[7] + "\n", held) == "OK\n");
  const std::string last = opened(held, "open:9999:amy:right\n");
  CHECK(said_to("token:" + tokens[1] + "\n", held) == kHolder);
  CHECK(said_to("token:" + last + "\n", held) == kHolder);
}

TEST_CASE("the last use is noted to the hour, and a store that takes none keeps nobody out",
          "[authserver]") {
  Held held;
  const std::string token = opened(held, "open:9999:amy:right\n");
  auto record = *parse_token_record(held.records[row_of_token(token)]);
  CHECK(record.used_s % 3600 == 0);
  record.used_s -= 3600;
  held.records[row_of_token(token)] = text_of(record);
  CHECK(said_to("token:" + token + "\n", held) == kHolder);
  CHECK(parse_token_record(held.records[row_of_token(token)])->used_s > record.used_s);
}

TEST_CASE("a disabled account is denied as with a wrong password, and loses nothing",
          "[authserver]") {
  Held held;
  const std::string token = opened(held, "open:9999:amy:right\n");
  const auto mark = [&held](const std::string& marks) {
    held.records["amy"] = marks + std::string(parse_account_record(held.records["amy"]).password);
  };
  const std::string asked =
      "auth:amy:right\nopen:9999:amy:right\npassword:amy:5:right:new\ntoken:" + token +
      "\nauth:bob:right\n";
  for (const char* marks : {"$is$disabled$", "$is$disabled,admin$", "$is$admin,disabled$",
                            "$is$unknown$", "$is$$", "$is$"}) {
    CAPTURE(marks);
    mark(marks);
    const auto rows = held.records.size();
    CHECK(said_to(asked, held) == kDenied + kDenied + kDenied + kDenied + "OK\n");
    CHECK(held.records.size() == rows);
    held.records["amy"] = "$plain$right";
  }
  for (const char* marks : {"", "$is$admin$"}) {
    mark(marks);
    CHECK(said_to("auth:amy:right\ntoken:" + token + "\n", held) == "OK\n" + kHolder);
  }
  CHECK(said_to("password:amy:5:right:new\nauth:amy:new\ntoken:" + token + "\n", held) ==
        "OK\nOK\n" + kDenied);
  CHECK(held.records["amy"] == "$is$admin$$plain$new");
}

TEST_CASE("marks are read as they were written", "[authserver]") {
  for (const bool is_disabled : {false, true}) {
    for (const bool is_admin : {false, true}) {
      const AccountRecord record{{is_disabled, is_admin}, "$plain$is$,disabled$"};
      const std::string text = text_of(record);
      CHECK(parse_account_record(text).marks == record.marks);
      CHECK(parse_account_record(text).password == record.password);
    }
  }
  CHECK(text_of(AccountRecord{{}, "$plain$x"}) == "$plain$x");
}

TEST_CASE("a change of marks does not overwrite that of somebody else", "[authserver]") {
  Held held;
  HeldStore store(held);
  held.records["amy"] = "$plain$right";
  int calls = 0;
  const auto done =
      change_record(store, "amy", [&](const AccountRecord& record) -> base::Result<std::string> {
        AccountRecord changed = record;
        changed.marks.is_admin = true;
        std::string text = text_of(changed);
        if (++calls == 1) held.records["amy"] = "$is$disabled$$plain$right";
        return text;
      });
  CHECK(done);
  CHECK(calls == 2);
  CHECK(held.records["amy"] == "$is$disabled,admin$$plain$right");
  const auto given_up =
      change_record(store, "amy", [&](const AccountRecord&) -> base::Result<std::string> {
        held.records["amy"] += "x";
        return std::string("$plain$lost");
      });
  CHECK(given_up.error().code == base::ErrorCode::kUnavailable);
  CHECK(change_marks(store, "eve", [](Marks&) {}).error().code == base::ErrorCode::kNotFound);
}

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

TEST_CASE("an application password is one of its user alone, until it is revoked", "[authserver]") {
  People people;
  Held& held = people.held;
  const std::string app = people.app(1);
  CHECK(said_to("auth:bob:" + app + "\nauth:amy:" + app + "\nauth:eve:" + app +
                    "\nauth:bob:" + std::string(43, 'x') + "\n",
                held) == "OK\n" + kDenied + kDenied + kDenied);
  CHECK(said_to("open:9999:bob:" + app + "\npassword:bob:43:" + app + ":new\ntoken:" + app +
                    "\nclose:" + app + "\n",
                held) == kDenied + kDenied + kDenied + "OK\n");
  for (const auto& [name, record] : held.records)
    CHECK((name + record).find(app) == std::string::npos);
  CHECK(said_to("password:bob:5:right:new\nauth:bob:" + app + "\nauth:bob:new\n", held) ==
        "OK\nOK\nOK\n");
  const std::string listed = told(held, "by:bob:3:new:apps");
  CHECK(listed.starts_with(people.id_of_app(1) + " app "));
  CHECK(listed.ends_with(" 0 a phone\n"));
  CHECK(said_to("by:amy:5:right:revoke:" + people.id_of_app(1) + "\n", held)
            .starts_with("ERR not-found"));
  CHECK(said_to("by:bob:3:new:revoke:" + people.id_of_app(1) + "\nauth:bob:" + app +
                    "\nby:bob:3:new:apps\n",
                held) == "OK\n" + kDenied + "OK\n");
}

TEST_CASE("an application password ends with its account, also if that is made again",
          "[authserver]") {
  People people;
  Held& held = people.held;
  // As a tool that does not know of tokens would do it.
  const std::string record = held.records["bob"];
  held.records["bob"] = "$plain$right";
  CHECK(said_to("auth:bob:" + people.app(1) + "\n", held) == kDenied);
  const std::string other = told(held, "by:bob:5:right:app:other").substr(23);
  CHECK(said_to("auth:bob:" + people.app(1) + "\nauth:bob:" + other + "\n", held) ==
        kDenied + "OK\n");
  // The new one has taken the place of the one that had ended.
  held.records["bob"] = record;
  CHECK(said_to("auth:bob:" + people.app(1) + "\nauth:bob:" + other + "\n", held) ==
        kDenied + kDenied);
}

TEST_CASE("a user has so many application passwords, and none gives way to another",
          "[authserver]") {
  People people;
  Held& held = people.held;
  std::string line;
  for (int i = 0; i < 2 * kAppPlaces; ++i) line += "by:bob:5:right:app:x\n";
  const std::string said = said_to(line, held);
  std::size_t refused = 0;
  for (auto at = said.find("ERR exists"); at != std::string::npos; at = said.find("ERR", at + 1))
    ++refused;
  CHECK(refused == kAppPlaces + 1);
  CHECK(said_to("auth:bob:" + people.app(1) + "\n", held) == "OK\n");
  CHECK(said_to("by:bob:5:right:revoke:" + people.id_of_app(1) + "\n", held) == "OK\n");
  CHECK(told(held, "by:bob:5:right:app:again").size() == 66);
  CHECK(said_to("by:bob:5:right:app:\xff\n", held) == kInvalid);
}

TEST_CASE("sessions are told and ended, by their user and by an administrator", "[authserver]") {
  People people;
  Held& held = people.held;
  const std::string of_bob = told(held, "as:" + people.sessions[1] + ":sessions:bob");
  CHECK(std::ranges::count(of_bob, '\n') == 2);
  CHECK(of_bob == told(held, "as:" + people.sessions[0] + ":sessions:bob"));
  const std::string id = of_bob.substr(0, 22);
  CHECK(of_bob.substr(22, 9) == " session ");
  CHECK(id == id_of(row_of_token(people.sessions[1])));
  CHECK(said_to("as:" + people.sessions[1] + ":revoke:" + id + "\n", held)
            .starts_with("ERR not-found"));
  CHECK(said_to("by:amy:5:right:end:amy:" + id + "\n", held).starts_with("ERR not-found"));
  CHECK(said_to("by:amy:5:right:end:bob:" + id + "\ntoken:" + people.sessions[1] + "\n", held) ==
        "OK\n" + kDenied);
  CHECK(said_to(
            "by:bob:5:right:end:bob:" + people.id_of_app(1) + "\nauth:bob:" + people.app(1) + "\n",
            held) == "OK\n" + kDenied);
  CHECK(said_to("by:bob:5:right:sessions:bob\n", held) == "OK\n");
}

TEST_CASE("an application password whose row cannot be read is unavailable, not denied",
          "[authserver]") {
  People people;
  for (const char* end : {"", "auth:bob:right\n"}) {  // alone, and together with others
    SessionScene scene("auth:bob:" + people.app(1) + "\n" + end);
    scene.held.records = people.held.records;
    scene.held.are_tokens_down = true;
    scene.serve();
    CHECK(scene.all_received().starts_with("ERR unavailable"));
  }
}
