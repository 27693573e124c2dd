// What `make mutants` builds: each function of the programs tells that it was entered, and has the
// mutations of its body beside the original one. Two variables of the environment, which are read
// once when the program starts, say what is wanted.
#pragma once

namespace turnstile_mutants {

// TURNSTILE_MUTATION: the number of the mutation whose body runs in place of the original one.
// 0 if it is not set: none.
extern int chosen;

// TURNSTILE_REACHED: a file of kPoints bytes, in which the byte of each function that was entered
// becomes 1. Processes share it, and it keeps what one that was killed has reached. Null if it is
// not set.
extern unsigned char* reached;
constexpr unsigned kPoints = 1U << 20;

inline void reach(unsigned point) {
  if (reached != nullptr) reached[point] = 1;
}

}  // namespace turnstile_mutants
