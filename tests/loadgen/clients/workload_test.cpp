#include "loadgen/clients/workload.h"

#include <cstdlib>
#include <list>
#include <map>
#include <set>
#include <string>

#include "loadgen/config/numbered.h"
#include "tests/catch.h"
#include "wire/request.h"

using loadgen::Config;
using loadgen::file_number;
using loadgen::NewAccounts;
using loadgen::numbered;
using loadgen::RequestKind;
using loadgen::Workload;

namespace {

Config get_config(const std::string& file, int unique) {
  Config config;
  config.request = loadgen::RequestKind::kGet;
  config.user = "u";
  config.password = "p";
  config.file = file;
  config.unique = unique;
  return config;
}

std::string account_of(const loadgen::Request& request) {
  return std::string(request.account.user) + ":" + std::string(request.account.password);
}

}  // namespace

TEST_CASE("thread t asks for t*COUNT+1 to (t+1)*COUNT, in order, wrapping", "[loadgen]") {
  CHECK(file_number(0, 3, 0) == 1);
  CHECK(file_number(0, 3, 1) == 2);
  CHECK(file_number(0, 3, 2) == 3);
  CHECK(file_number(0, 3, 3) == 1);
  CHECK(file_number(2, 3, 0) == 7);
  CHECK(file_number(2, 3, 2) == 9);
  CHECK(file_number(2, 3, 3) == 7);
}

TEST_CASE("no two threads ever ask for the same file, and together they ask for all", "[loadgen]") {
  constexpr int kThreads = 7;
  constexpr int kCount = 5;
  std::set<std::int64_t> seen;
  for (int thread = 0; thread < kThreads; ++thread) {
    for (int request = 0; request < kCount; ++request)
      CHECK(seen.insert(file_number(thread, kCount, request)).second);
  }
  CHECK(*seen.begin() == 1);
  CHECK(*seen.rbegin() == kThreads * kCount);
}

TEST_CASE("file numbers do not overflow", "[loadgen]") {
  CHECK(file_number(99'999, 1'000'000'000, 999'999'999) == 100'000'000'000'000);
}

TEST_CASE("every %d in a name is replaced by the number", "[loadgen]") {
  CHECK(numbered("1KB%d.txt", 12) == "1KB12.txt");
  CHECK(numbered("%d/%d", 3) == "3/3");
  CHECK(numbered("1KB1.txt", 12) == "1KB1.txt");
  CHECK(numbered("100%.txt", 12) == "100%.txt");
}

TEST_CASE("a get has an account and the name of a file", "[loadgen]") {
  const Config config = get_config("1KB%d.txt", 2);
  NewAccounts unused("run");
  Workload workload(config, unused, 3);
  CHECK(account_of(workload.next()) == "u:p");
  CHECK(workload.next().file_name == "1KB8.txt");
  CHECK(workload.next().file_name == "1KB7.txt");
}

TEST_CASE("each put of each run has a name of its own, and an account", "[loadgen]") {
  Config config;
  config.request = loadgen::RequestKind::kPut;
  config.user = "u%d";
  config.password = "p%d";
  config.size_bytes = 1'000;
  std::set<std::string> names;
  for (const std::string& run_name : {loadgen::random_word(), loadgen::random_word()}) {
    NewAccounts new_accounts(run_name);
    for (const int thread : {0, 1, 11}) {
      Workload workload(config, new_accounts, thread);
      for (int i = 0; i < 20; ++i) {
        const loadgen::Request request = workload.next();
        CHECK(account_of(request) == "u1:p1");
        CHECK(request.size_bytes == 1'000);
        CHECK(wire::is_file_name(request.file_name));
        CHECK(names.emplace(request.file_name).second);
      }
    }
  }
}

TEST_CASE("all puts go to the file that is given, one for each thread if it has a number",
          "[loadgen]") {
  Config config;
  config.request = loadgen::RequestKind::kPut;
  NewAccounts unused("run");
  const auto name = [&](const char* file, int thread) {
    config.file = file;
    Workload workload(config, unused, thread);
    workload.next();
    return std::string(workload.next().file_name);
  };
  CHECK(name("/dev/null", 3) == "/dev/null");
  CHECK(name("up%d", 0) == "up1");
  CHECK(name("up%d", 3) == "up4");
  config.request = RequestKind::kGet;
  config.mix = {0, 0, 1};
  CHECK(name("up%d", 3).starts_with("load-run-3-"));
}

TEST_CASE("with --once a workload is used up after each file was asked for", "[loadgen]") {
  Config config = get_config("1KB%d.txt", 2);
  NewAccounts unused("run");
  CHECK_FALSE(Workload(config, unused, 0).is_used_up());
  config.asks_once = true;
  Workload workload(config, unused, 0);
  for (const bool is_used_up : {false, true}) {
    workload.next();
    CHECK(workload.is_used_up() == is_used_up);
  }
}

TEST_CASE("a new has an account that the fileserver accepts, and no file", "[loadgen]") {
  Config config;
  config.request = loadgen::RequestKind::kNew;
  NewAccounts new_accounts(loadgen::random_word());
  Workload workload(config, new_accounts, 99'999);
  const loadgen::Request request = workload.next();
  CHECK(request.file_name.empty());
  CHECK_FALSE(wire::refusal_of(request.account));
}

TEST_CASE("no two requests, threads or runs make the same user name", "[loadgen]") {
  Config config;
  config.request = loadgen::RequestKind::kNew;
  std::set<std::string> users;
  for (const std::string& run_name : {loadgen::random_word(), loadgen::random_word()}) {
    NewAccounts new_accounts(run_name);
    for (const int thread : {0, 1, 11}) {
      Workload workload(config, new_accounts, thread);
      for (int i = 0; i < 20; ++i) {
        CHECK(users.emplace(workload.next().account.user).second);
      }
    }
  }
}

TEST_CASE("%d stands for the same number in user and password", "[loadgen]") {
  Config config = get_config("f", 0);
  config.user = "u%d";
  config.password = "p%d:%d";
  NewAccounts unused("run");
  CHECK(Workload(config, unused, 0).next().account.password == "p1:1");

  config.accounts = 1'000;
  Workload workload(config, unused, 0);
  for (int i = 0; i < 20; ++i) {
    const std::string account = account_of(workload.next());
    const std::string number = account.substr(1, account.find(':') - 1);
    CHECK(account == "u" + number + ":p" + number + ":" + number);
  }
}

TEST_CASE("a get draws each account equally often, whatever the thread", "[loadgen]") {
  Config config = get_config("f", 0);
  config.user = "u%d";
  config.accounts = 4;
  NewAccounts unused("run");
  for (const int thread : {0, 1}) {
    std::map<std::string, int> drawn;
    Workload workload(config, unused, thread);
    constexpr int kEach = 1'000;
    for (int i = 0; i < config.accounts * kEach; ++i) ++drawn[account_of(workload.next())];
    CHECK(drawn.size() == 4);
    CHECK(drawn.count("u4:p") == 1);
    // About nine standard deviations from the mean.
    for (const auto& [line, count] : drawn) CHECK(std::abs(count - kEach) < kEach / 4);
  }
}

TEST_CASE("two threads do not draw the same accounts in the same order", "[loadgen]") {
  Config config = get_config("f", 0);
  config.user = "u%d";
  config.accounts = 1'000'000'000;
  NewAccounts unused("run");
  Workload first(config, unused, 0);
  Workload second(config, unused, 1);
  CHECK(account_of(first.next()) != account_of(second.next()));
}

TEST_CASE("a get draws one of --files, the first ones more often with zipf", "[loadgen]") {
  Config config = get_config("f%d", 0);
  config.files = 3;
  NewAccounts unused("run");
  for (const double zipf : {0.0, 1.0}) {
    config.zipf = zipf;
    std::map<std::string, int> drawn;
    Workload workload(config, unused, 4);
    constexpr int kRequests = 11'000;
    for (int i = 0; i < kRequests; ++i) ++drawn[std::string(workload.next().file_name)];
    CHECK(drawn.size() == 3);
    const int expected = zipf == 0 ? kRequests / 3 : kRequests * 6 / 11;
    CHECK(std::abs(drawn["f1"] - expected) < 250);  // about five standard deviations
  }
}

TEST_CASE("the files of a thread are neither those of another nor of another seed", "[loadgen]") {
  Config config = get_config("f%d", 0);
  config.files = 1'000'000'000;
  NewAccounts unused("run");
  const auto first_file = [&](int seed, int thread) {
    config.seed = seed;
    return std::string(Workload(config, unused, thread).next().file_name);
  };
  CHECK(first_file(7, 0) == first_file(7, 0));
  CHECK(first_file(7, 0) != first_file(8, 0));
  CHECK(first_file(7, 0) != first_file(7, 1));
}

TEST_CASE("the kinds of a mix are drawn by their shares, each as if it were alone", "[loadgen]") {
  Config config = get_config("f%d", 3);
  config.mix[index_of(RequestKind::kGet)] = 60;
  config.mix[index_of(RequestKind::kPut)] = 30;
  config.mix[index_of(RequestKind::kNew)] = 10;
  NewAccounts unused("run");
  Workload workload(config, unused, 0);
  std::map<RequestKind, int> drawn;
  std::set<std::string> made;
  constexpr int kRequests = 10'000;
  for (int i = 0; i < kRequests; ++i) {
    const loadgen::Request request = workload.next();
    const int number = drawn[request.kind]++;
    if (request.kind == RequestKind::kNew) {
      CHECK(request.file_name.empty());
      CHECK(made.insert(std::string(request.account.user)).second);
      continue;
    }
    CHECK(account_of(request) == "u:p");
    if (request.kind == RequestKind::kGet)
      CHECK(request.file_name == numbered("f%d", number % 3 + 1));
    else
      CHECK(made.insert(std::string(request.file_name)).second);
  }
  CHECK(std::abs(drawn[RequestKind::kGet] - 6'000) < 250);  // five standard deviations
  CHECK(std::abs(drawn[RequestKind::kPut] - 3'000) < 250);
  CHECK(std::abs(drawn[RequestKind::kNew] - 1'000) < 150);
}

TEST_CASE("one more thing that is drawn changes nothing about the others", "[loadgen]") {
  Config config = get_config("f%d", 0);
  config.files = 1'000'000'000;
  NewAccounts unused("run");
  Workload plain(config, unused, 0);
  Config with_accounts = config;
  with_accounts.user = "u%d";
  with_accounts.accounts = 100;
  with_accounts.mix[index_of(RequestKind::kGet)] = 1;
  Workload other(with_accounts, unused, 0);
  for (int i = 0; i < 20; ++i)
    CHECK(std::string(plain.next().file_name) == std::string(other.next().file_name));
}

TEST_CASE("a seed gives each thread the same accounts again, another one gives others",
          "[loadgen]") {
  Config config = get_config("f", 0);
  config.user = "u%d";
  config.accounts = 1'000'000'000;
  NewAccounts unused("run");
  const auto first_account = [&](int seed) {
    config.seed = seed;
    return account_of(Workload(config, unused, 3).next());
  };
  CHECK(first_account(7) == first_account(7));
  CHECK(first_account(7) != first_account(8));
}

TEST_CASE("a schedule draws the same whichever thread sends the request", "[loadgen]") {
  Config config = get_config("f", 0);
  config.user = "u%d";
  config.accounts = 1'000'000'000;
  NewAccounts unused("run");
  Workload first(config, unused, 1);
  Workload second(config, unused, 2);
  const std::string account = account_of(first.next_of_schedule(5));
  CHECK(account != account_of(first.next_of_schedule(6)));
  CHECK(account == account_of(second.next_of_schedule(5)));
}

TEST_CASE("the threads of a run make each given account once", "[loadgen]") {
  Config config;
  config.request = loadgen::RequestKind::kNew;
  config.user = "u%d";
  config.password = "p%d";
  for (const int accounts : {1, 2, 5, 12}) {
    config.accounts = accounts;
    NewAccounts new_accounts("run");
    std::list<Workload> threads;
    for (int thread = 0; thread < 3; ++thread) threads.emplace_back(config, new_accounts, thread);
    std::multiset<std::string> made;
    for (bool is_over = false; !is_over;) {
      is_over = true;
      for (Workload& workload : threads) {
        if (workload.is_used_up()) continue;
        made.insert(account_of(workload.next()));
        is_over = false;
      }
    }
    std::multiset<std::string> expected;
    for (int number = 1; number <= accounts; ++number)
      expected.insert("u" + std::to_string(number) + ":p" + std::to_string(number));
    CHECK(made == expected);
  }
}
