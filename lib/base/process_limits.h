// What the system lets this process have.
#pragma once

#include <cstdint>

namespace base {

// Of the threads made from now on: a small stack. What a thread touches of it costs memory; the
// rest is address space.
void make_threads_small();

// As many descriptors as the system allows without asking: the soft limit becomes the hard one.
// Returns the limit.
std::uint64_t raise_descriptor_limit();

}  // namespace base
