#pragma once

#include <cstddef>
#include <functional>

namespace fileserver {

// Calls work(0) ... work(count - 1), in that order of starting, from several threads at once, and
// returns when all are done. `may_go_on` is asked again and again, by the calling thread: once it
// says no, nothing more is begun. False when not all was done. Throws when no thread can be made.
// After two seconds, and every two seconds then, `report` is called with how many are done and the
// time so far. Several, even on one core: a disk answers many questions at once faster than one
// after another.
bool for_each_in_parallel(std::size_t count, const std::function<void(std::size_t)>& work,
                          const std::function<bool()>& may_go_on,
                          const std::function<void(std::size_t done, double seconds)>& report);

}  // namespace fileserver
