#pragma once

#include <cstddef>
#include <functional>

namespace fileserver {

// Calls work(0) ... work(count - 1), in that order of starting, from several threads at once, and returns when all are
// done. After two seconds, and every two seconds then, `report` is called with how many are done and the time so far.
// Several, even on one core: a disk answers many questions at once faster than one after another.
void for_each_in_parallel(std::size_t count, const std::function<void(std::size_t)>& work,
                          const std::function<void(std::size_t done, double seconds)>& report);

}  // namespace fileserver
