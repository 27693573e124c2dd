#include "serve/shared_memory.h"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <vector>

#include "tests/catch.h"

TEST_CASE("of zeros in shared memory, only what is touched takes memory", "[serve]") {
  constexpr std::size_t kPages = 1000;
  const auto page_bytes = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
  const serve::SharedZeros<char> zeros(kPages * page_bytes);
  const auto resident_pages = [&] {
    std::vector<unsigned char> pages(kPages);
    REQUIRE(::mincore(&zeros[0], zeros.size(), pages.data()) == 0);
    return std::ranges::count_if(pages, [](unsigned char page) { return (page & 1) != 0; });
  };
  CHECK(resident_pages() == 0);
  CHECK(zeros[10 * page_bytes] == 0);
  zeros[20 * page_bytes] = 1;
  CHECK(resident_pages() == 2);
}
