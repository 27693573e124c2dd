#include "authserver/links.h"

#include <algorithm>
#include <atomic>
#include <functional>
#include <mutex>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include "base/clock.h"
#include "tests/authserver/session_scene.h"
#include "tests/catch.h"

using namespace authserver;
using namespace tests;

namespace {

const std::string kSecret(wire::kLinkSecretBytes, 'p');
const std::string kWrongSecret(wire::kLinkSecretBytes, 'q');

struct MadeLink {
  std::string line(const std::string& wish) const { return "as:" + token + ":" + wish + "\n"; }
  std::string row() const { return row_of_token(token); }

  std::string id;
  std::string token;
};

// One of bob's.
MadeLink made(Held& held, const std::string& terms) {
  const std::string both = told(held, "by:bob:5:right:link:" + terms);
  REQUIRE(both.size() == 22 + 1 + 43);
  return {both.substr(0, 22), both.substr(23)};
}

TokenRecord token_of(Held& held, const MadeLink& link) {
  return *parse_token_record(held.records[link.row()]);
}

void change(Held& held, const MadeLink& link, const std::function<void(TokenRecord&)>& how) {
  TokenRecord token = token_of(held, link);
  how(token);
  held.records[link.row()] = text_of(token);
}

std::string content(const std::string& text) {
  return "OK " + std::to_string(text.size()) + "\n" + text;
}

// What a guest is told who looks at bob's link, or uses it.
std::string opens(const MadeLink& link, const std::string& terms) {
  return content("open " + link.id + " bob " + terms);
}

// Guests who use a link at the same time, without a session between them and the store.
struct Guests {
  explicit Guests(People& people) : held(people.held), store(people.held) {}

  base::Result<VisitedLink> visit(const MadeLink& link, Visit how) {
    auto visited = visit_link(store, *tokens, link.token, {}, how);
    if (how == Visit::kUses && visited) ++granted;
    return visited;
  }

  Held& held;
  HeldStore store;
  serve::Shared<SharedTokenState> tokens;
  int granted = 0;
};

}  // namespace

TEST_CASE("a link is made, told, looked at and used", "[authserver]") {
  People people;
  Held& held = people.held;
  const MadeLink link = made(held, "read:600:2:-:a/b c.txt");
  CHECK(link.id == id_of(link.row()));
  const TokenRecord token = token_of(held, link);
  CHECK(token.ends_s == token.made_s + 600);
  const std::string line = link.id + " link " + std::to_string(token.made_s) + " " +
                           std::to_string(token.used_s) + " " + std::to_string(token.ends_s) +
                           " read 2 open a/b c.txt\n";
  CHECK(told(held, "by:bob:5:right:links") == line);
  for (const std::string& session : people.sessions)
    CHECK(told(held, "as:" + session + ":sessions:bob").ends_with(" a phone\n" + line));
  CHECK(told(held, "token:" + link.token) == "link " + link.id);
  CHECK(said_to(link.line("visit:-") + link.line("visit:-") + link.line("use:-"), held) ==
        opens(link, "read 2 a/b c.txt") + opens(link, "read 2 a/b c.txt") +
            opens(link, "read 2 a/b c.txt"));
  CHECK(token_of(held, link).link.uses_left == 1);
  CHECK(said_to(link.line("use:-") + link.line("use:-") + link.line("visit:-"), held) ==
        opens(link, "read 1 a/b c.txt") + kDenied + kDenied);
  CHECK(said_to("by:bob:5:right:links\n", held) == "OK\n");
  for (const auto& [name, record] : held.records)
    CHECK((name + record).find(link.token) == std::string::npos);
}

TEST_CASE("a link may have no end, and any number of uses", "[authserver]") {
  People people;
  Held& held = people.held;
  const MadeLink link = made(held, "drop:0:0:-:/");
  for (int i = 0; i < 3; ++i) CHECK(said_to(link.line("use:-"), held) == opens(link, "drop - /"));
  CHECK(told(held, "by:bob:5:right:links").ends_with(" 0 drop - open /\n"));
}

TEST_CASE("the longest link fits into the store, and is told whole", "[authserver]") {
  People people;
  Held& held = people.held;
  const std::string user(wire::kMaxUserBytes, 'u');
  const std::string path = "\xc3\xbc" + std::string(wire::kMaxLinkPathBytes - 3, 'x') + "/";
  held.records[user] = "$plain$right";
  const std::string terms = "read:316224000:1000000:" + kSecret + ":" + path;
  const std::string token = told(held, "by:" + user + ":5:right:link:" + terms).substr(23);
  CHECK(told(held, "as:" + token + ":use:" + kSecret).ends_with(" read 1000000 " + path));
  CHECK(
      told(held, "by:" + user + ":5:right:links").ends_with(" read 999999 locked " + path + "\n"));
  for (const auto& [name, record] : held.records) {
    CHECK(name.size() <= 64);
    CHECK(record.size() <= 255);
  }
  CHECK(said_to("by:bob:5:right:link:read:0:0:-:\xff\n", held) == kInvalid);
}

TEST_CASE("of a link with a number of uses so many pass, whoever uses it meanwhile",
          "[authserver]") {
  constexpr int kUses = 9;
  People people;
  const MadeLink link = made(people.held, "read:0:" + std::to_string(kUses) + ":-:a");
  Guests guests(people);
  int counts = 0;
  // Of each three, one is alone, one is overtaken once, and one is overtaken again and again.
  const std::function<void()> overtake = [&] {
    if (counts++ % 3 == 0) return;
    people.held.before_replace_if = [] {};
    static_cast<void>(guests.visit(link, Visit::kUses));
    people.held.before_replace_if = overtake;
  };
  people.held.before_replace_if = overtake;
  for (int i = 0; i < 2 * kUses; ++i) {
    const auto visited = guests.visit(link, Visit::kUses);
    CHECK((visited || visited.error().code == base::ErrorCode::kDenied));
    CHECK(token_of(people.held, link).link.uses_left == kUses - guests.granted);
  }
  CHECK(guests.granted == kUses);
  CHECK(counts > kUses / 2);
}

namespace {

// Each look takes a while, so that all guests have looked before one is counted.
class SlowStore final : public HeldStore {
 public:
  using HeldStore::HeldStore;
  base::Status replace_if(const authserver::Account& account, std::string_view before) override {
    const std::lock_guard lock(mutex_);
    return HeldStore::replace_if(account, before);
  }
  base::Result<std::string> find_record(std::string_view user) override {
    const std::lock_guard lock(mutex_);
    return HeldStore::find_record(user);
  }
  std::vector<base::Result<std::string>> find_records(
      std::span<const std::string_view> users) override {
    auto found = [&] {
      const std::lock_guard lock(mutex_);
      return HeldStore::find_records(users);
    }();
    base::pause_ms(2);
    return found;
  }

 private:
  std::mutex mutex_;
};

}  // namespace

TEST_CASE("a crowd uses a link at one moment, and each has it once", "[authserver]") {
  constexpr int kGuests = 150;
  People people;
  const MadeLink link = made(people.held, "read:0:" + std::to_string(kGuests - 1) + ":-:a");
  SlowStore store(people.held);
  serve::Shared<SharedTokenState> tokens;
  std::atomic<int> granted = 0, denied = 0;
  {
    std::vector<std::jthread> guests;
    for (int i = 0; i < kGuests; ++i) {
      guests.emplace_back([&] {
        const auto visited = visit_link(store, *tokens, link.token, {}, Visit::kUses);
        granted += visited ? 1 : 0;
        denied += !visited && visited.error().code == base::ErrorCode::kDenied ? 1 : 0;
      });
    }
  }
  CHECK(granted == kGuests - 1);
  CHECK(denied == 1);
}

TEST_CASE("the hour of a use does not undo a use that somebody else counted", "[authserver]") {
  People people;
  const MadeLink link = made(people.held, "read:0:3:-:a");
  change(people.held, link, [](TokenRecord& token) { token.used_s -= 3600; });
  Guests guests(people);
  people.held.before_replace_if = [&] {
    people.held.before_replace_if = [] {};
    CHECK(guests.visit(link, Visit::kUses));
  };
  CHECK(guests.visit(link, Visit::kLooks));
  CHECK(guests.granted == 1);
  CHECK(token_of(people.held, link).link.uses_left == 2);
}

TEST_CASE("a use that cannot be counted is not granted", "[authserver]") {
  People people;
  Held& held = people.held;
  const MadeLink link = made(held, "read:0:1:-:a");
  const auto before = held.records;
  Guests guests(people);
  held.before_replace_if = [&] { held.is_down = true; };  // behind the look-ups
  CHECK(guests.visit(link, Visit::kUses).error().code == base::ErrorCode::kUnavailable);
  held.is_down = false;
  int hours = 0;
  held.before_replace_if = [&] {
    change(held, link, [&](TokenRecord& token) { token.used_s += ++hours; });
  };
  CHECK(guests.visit(link, Visit::kUses).error().code == base::ErrorCode::kUnavailable);
  CHECK(token_of(held, link).link.uses_left == 1);
  CHECK(hours < 1000);

  SessionScene scene(link.line("visit:-") + link.line("use:-") + "token:" + link.token + "\n");
  scene.held.records = before;
  scene.held.are_tokens_down = true;
  scene.serve();
  const std::string said = scene.all_received();
  CHECK(said.find("denied") == std::string::npos);
  CHECK(std::ranges::count(said, '\n') == 3);
}

TEST_CASE("a link that is no good is denied, alike in words and in questions to the store",
          "[authserver]") {
  struct Way {
    const char* name;
    std::function<void(Held&, MadeLink&)> end;
  };
  const auto ask = [](Held& held, const std::string& line) {
    REQUIRE(said_to(line, held) == "OK\n");
  };
  const Way ways[] = {
      {"used up",
       [](Held& held, MadeLink& link) { told(held, "as:" + link.token + ":use:" + kSecret); }},
      {"its time",
       [](Held& held, MadeLink& link) {
         change(held, link, [](TokenRecord& token) { token.ends_s -= 600; });
       }},
      {"revoked",
       [&](Held& held, MadeLink& link) { ask(held, "by:bob:5:right:unlink:" + link.id + "\n"); }},
      {"never made", [](Held&, MadeLink& link) { link.token = std::string(43, 'x'); }},
      {"removed", [&](Held& held, MadeLink&) { ask(held, "by:amy:5:right:remove:bob\n"); }},
      {"removed by a tool", [](Held& held, MadeLink&) { held.records.erase("bob"); }},
      {"disabled", [&](Held& held, MadeLink&) { ask(held, "by:amy:5:right:disable:bob\n"); }},
      {"password", [&](Held& held, MadeLink&) { ask(held, "password:bob:5:right:new\n"); }},
      {"password by a tool", [](Held& held, MadeLink&) { held.records["bob"] = "$plain$new"; }},
      {"a session",
       [](Held& held, MadeLink& link) { link.token = opened(held, "open:9999:bob:right\n"); }},
      {"the row of another one", [](Held& held, MadeLink& link) {
         const MadeLink forged{link.id, std::string(43, 'f')};
         held.records[forged.row()] = held.records[link.row()];
         held.records[path_row_of(forged.row())] = held.records[path_row_of(link.row())];
         link = forged;
       }}};
  for (const std::string& secret : {std::string("-"), kSecret}) {
    for (const Way& way : ways) {
      CAPTURE(secret, way.name);
      People people;
      Held& held = people.held;
      MadeLink link = made(held, "read:600:1:" + secret + ":a");
      way.end(held, link);
      const auto before = held.records;
      for (const std::string& wish :
           {std::string("visit:-"), "visit:" + kSecret, std::string("use:-"), "use:" + kSecret}) {
        held.asked_for.clear();
        held.changes = 0;
        CHECK(said_to(link.line(wish), held) == kDenied);
        CHECK(held.asked_for == std::vector<std::size_t>{2, 1});
        CHECK(held.changes == 0);
      }
      CHECK(held.records == before);
      CHECK(said_to("token:" + link.token + "\n", held) != content("link " + link.id));
    }
  }
}

TEST_CASE("a link of a disabled account goes on when that is enabled", "[authserver]") {
  People people;
  Held& held = people.held;
  const MadeLink link = made(held, "read:0:0:-:a");
  const std::string visit = link.line("visit:-");
  CHECK(said_to("by:amy:5:right:disable:bob\n" + visit + "by:amy:5:right:enable:bob\n" + visit,
                held) == "OK\n" + kDenied + "OK\n" + opens(link, "read - a"));
}

TEST_CASE("a link with a password is closed without it, and no use is counted then",
          "[authserver]") {
  People people;
  Held& held = people.held;
  const MadeLink link = made(held, "read:0:2:" + kSecret + ":a");
  const MadeLink other = made(held, "read:0:2:" + kSecret + ":a");
  CHECK(told(held, "by:bob:5:right:links").ends_with(" 0 read 2 locked a\n"));
  const auto before = held.records;
  const std::string closed = content("closed");
  CHECK(said_to(link.line("visit:-") + link.line("use:-") + link.line("visit:" + kWrongSecret) +
                    link.line("use:" + kWrongSecret),
                held) == closed + closed + closed + closed);
  CHECK(said_to(link.line("visit:" + kSecret), held) == opens(link, "read 2 a"));
  CHECK(held.records == before);
  CHECK(said_to(link.line("use:" + kSecret) + link.line("use:" + kSecret) +
                    link.line("use:" + kSecret) + link.line("use:-"),
                held) == opens(link, "read 2 a") + opens(link, "read 1 a") + kDenied + kDenied);
  // What is kept of a password tells nobody that two links have the same one.
  CHECK(token_of(held, link).link.proof != token_of(held, other).link.proof);
  for (const auto& [name, record] : held.records)
    CHECK(record.find(kSecret.substr(0, 20)) == std::string::npos);
}

TEST_CASE("a user has so many links, and one that has ended or is used up frees its place",
          "[authserver]") {
  People people;
  Held& held = people.held;
  const std::string make = "by:bob:5:right:link:read:600:1:-:a\n";
  std::vector<MadeLink> links;
  for (int i = 0; i < kLinkPlaces; ++i) links.push_back(made(held, "read:600:1:-:a"));
  const auto is_full = [&] { return said_to(make, held).starts_with("ERR exists"); };
  CHECK(is_full());
  const auto rows = held.records.size();
  change(held, links[7], [](TokenRecord& token) { token.ends_s -= 600; });
  made(held, "read:600:1:-:a");
  CHECK(is_full());
  told(held, "as:" + links[9].token + ":use:-");
  made(held, "read:600:1:-:a");
  CHECK(is_full());
  CHECK(held.records.size() == rows);  // nothing is left of those that gave way
  CHECK(said_to("by:bob:5:right:unlink:" + links[0].id + "\n", held) == "OK\n");
  made(held, "read:600:1:-:a");
  CHECK(is_full());
  CHECK(said_to(links[1].line("use:-"), held) == opens(links[1], "read 1 a"));
  const std::string listed = told(held, "by:bob:5:right:links");
  CHECK(std::ranges::count(listed, '\n') == kLinkPlaces - 1);
}

TEST_CASE("of a link that was ended nothing is left in the store", "[authserver]") {
  People people;
  Held& held = people.held;
  const auto before = held.records;
  CHECK(said_to("by:bob:5:right:unlink:" + made(held, "read:0:1:-:a").id + "\n", held) == "OK\n");
  CHECK(rows_in_use(held) == before);
  CHECK(said_to("by:amy:5:right:end:bob:" + made(held, "read:0:1:-:a").id + "\n", held) == "OK\n");
  CHECK(rows_in_use(held) == before);
  made(held, "read:0:1:-:a");
  made(held, "drop:600:0:" + kSecret + ":b/");
  Held changed = held;
  CHECK(said_to("password:bob:5:right:new\n", changed) == "OK\n");
  CHECK(rows_in_use(changed).size() == before.size() - 2);  // a session, and its place
  CHECK(said_to("by:amy:5:right:remove:bob\n", held) == "OK\n");
  CHECK(rows_in_use(held).size() == before.size() - 5);  // the account, two tokens, their places
}

TEST_CASE("only a person makes links, and ends those of his own", "[authserver]") {
  People people;
  Held& held = people.held;
  const MadeLink link = made(held, "read:0:1:-:a");
  const std::string invitation = told(held, "by:amy:5:right:reset:bob");
  const auto before = held.records;
  for (const std::string& wish :
       {std::string("link:read:0:1:-:a"), std::string("links"), "unlink:" + link.id}) {
    for (const std::string& who :
         {"by:bob:43:" + people.app(1), "as:" + people.app(1), "as:" + link.token,
          "by:bob:43:" + link.token, "as:" + invitation, std::string("by:bob:5:wrong")}) {
      CAPTURE(who, wish);
      CHECK(said_to(who + ":" + wish + "\n", held) == kDenied);
    }
  }
  // A link stands for nobody, and a person is no guest.
  CHECK(said_to(link.line("who") + link.line("apps") + link.line("sessions:bob") +
                    "auth:bob:" + link.token + "\nopen:9999:bob:" + link.token +
                    "\nby:bob:5:right:visit:-\nas:" + people.app(1) + ":use:-\nas:x:use:-\n",
                held) ==
        kDenied + kDenied + kDenied + kDenied + kDenied + kDenied + kDenied + kDenied);
  CHECK(said_to("close:" + link.token + "\nby:bob:5:right:end:amy:" + link.id + "\n", held) ==
        "OK\n" + kDenied);
  for (const std::string& wish :
       {"by:amy:5:right:unlink:" + link.id, "by:amy:5:right:end:amy:" + link.id,
        "by:bob:5:right:revoke:" + link.id, "by:bob:5:right:unlink:" + people.id_of_app(1)}) {
    CAPTURE(wish);
    CHECK(said_to(wish + "\n", held).starts_with("ERR not-found"));
  }
  CHECK(held.records == before);
  CHECK(said_to("by:amy:5:right:end:bob:" + link.id + "\n" + link.line("visit:-"), held) ==
        "OK\n" + kDenied);
}
