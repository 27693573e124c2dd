#include "serve/places.h"

#include <fmt/format.h>

#include <array>
#include <atomic>
#include <thread>

#include "base/clock.h"
#include "tests/catch.h"

namespace {

constexpr int kPlaces = 8;

net::IpAddress host(const char* text) { return *net::parse_ip_address(text); }

// Places that one address after the other takes.
class PlacesScene {
 public:
  void begin(std::size_t place, const char* address) {
    all[place].begin(shares, shares.group_of(host(address)));
  }
  void fill(const char* address) {
    for (std::size_t i = 0; i < all.size(); ++i) begin(i, address);
  }
  std::optional<std::size_t> given_to(const char* newcomer) {
    return serve::let_one_give_way(all, shares, host(newcomer), kPlaces);
  }

  serve::AddressShares shares;
  std::array<serve::Place, kPlaces> all;
};

}  // namespace

TEST_CASE("the oldest silent place of a large address gives way, then who has begun a request",
          "[places]") {
  PlacesScene scene;
  scene.fill("192.0.2.1");
  scene.all[0].bytes_came();
  CHECK(scene.all[2].request_came());
  CHECK(scene.given_to("192.0.2.2") == 1U);
  CHECK(scene.all[1].has_given_way());
  CHECK_FALSE(scene.all[1].request_came());
  CHECK_FALSE(scene.all[1].end(scene.shares));
  for (const std::size_t next : {3U, 4U, 5U, 6U, 7U, 0U}) {
    CHECK(scene.given_to("192.0.2.2") == next);
    CHECK(scene.all[0].has_given_way() == (next == 0U));
  }
  CHECK_FALSE(scene.given_to("192.0.2.2"));
  CHECK(scene.all[2].end(scene.shares));
}

TEST_CASE("a request that goes on is none yet", "[places]") {
  PlacesScene scene;
  scene.fill("192.0.2.1");
  for (serve::Place& place : scene.all) CHECK(place.request_came());
  CHECK_FALSE(scene.given_to("192.0.2.2"));
  scene.all[5].request_goes_on();
  CHECK(scene.given_to("192.0.2.2") == 5U);
}

TEST_CASE("nobody gives way to an address that has over a quarter itself", "[places]") {
  PlacesScene scene;
  scene.fill("2001:db8:0:1::1");
  CHECK_FALSE(scene.given_to("2001:db8:0:1:ffff::2"));  // the same /64
  CHECK(scene.given_to("2001:db8:0:2::1"));

  PlacesScene halves;
  for (std::size_t i = 0; i < kPlaces; ++i) halves.begin(i, i % 2 == 0 ? "192.0.2.1" : "192.0.2.2");
  CHECK_FALSE(halves.given_to("192.0.2.1"));
}

TEST_CASE("nobody gives way to an address whose own connections come meanwhile", "[places]") {
  serve::AddressShares shares;
  const auto own = shares.group_of(host("192.0.2.1"));
  std::atomic<int> rounds = 0;
  std::atomic<bool> is_over = false;
  std::thread others([&] {
    while (!is_over) {
      for (int i = 0; i < kPlaces; ++i) shares.add(own);
      for (int i = 0; i < kPlaces; ++i) shares.remove(own);
      ++rounds;
    }
  });
  int pushed_out = 0;
  const auto deadline = base::Deadline::in_ms(5000);
  for (int beside_them = 0; beside_them < 100 && !deadline.has_passed();) {
    const int before = rounds;
    pushed_out += shares.may_push_out(host("192.0.2.1"), kPlaces) ? 1 : 0;
    if (rounds != before) ++beside_them;
  }
  is_over = true;
  others.join();
  CHECK(pushed_out == 0);
}

TEST_CASE("an address with a quarter of the places keeps them", "[places]") {
  PlacesScene scene;
  const std::array hosts{"192.0.2.1", "192.0.2.2", "192.0.2.3", "192.0.2.4"};
  for (std::size_t i = 0; i < scene.all.size(); ++i) scene.begin(i, hosts[i / 2]);
  CHECK_FALSE(scene.given_to("192.0.2.5"));
}

TEST_CASE("hardly an address counts for a large one by chance", "[places]") {
  PlacesScene scene;
  scene.fill("192.0.2.1");
  int large = 0;
  for (int i = 0; i < 100'000; ++i) {
    const auto other = host(fmt::format("10.{}.{}.1", i / 256, i % 256).c_str());
    large += scene.shares.is_large(scene.shares.group_of(other), kPlaces) ? 1 : 0;
  }
  CHECK(large <= 2);
}

TEST_CASE("an older place of a small address stays where a large one has others", "[places]") {
  PlacesScene scene;
  scene.begin(0, "192.0.2.1");
  for (std::size_t i = 1; i < scene.all.size(); ++i) scene.begin(i, "192.0.2.2");
  CHECK(scene.given_to("192.0.2.3") == 1U);
}

TEST_CASE("a place whose turn has passed gives way to nobody", "[places]") {
  PlacesScene scene;
  scene.fill("192.0.2.1");
  const auto rank = scene.all[0].rank(scene.shares, kPlaces);
  REQUIRE(rank);
  CHECK(scene.all[0].request_came());
  CHECK_FALSE(scene.all[0].give_way(*rank));
  CHECK_FALSE(scene.all[0].has_given_way());
}
