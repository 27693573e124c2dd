#include "authserver/session.h"

#include <algorithm>
#include <cstddef>
#include <string>
#include <vector>

#include "authserver/account_marks.h"
#include "tests/authserver/session_scene.h"
#include "tests/catch.h"

using namespace authserver;
using namespace tests;

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
