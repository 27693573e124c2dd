// Standard input, output and error of a program that must not end when they do.
#pragma once

#include <string_view>

namespace base {

// Makes a failed write to a standard stream an error, and nothing worse. A pipe that nobody reads
// no longer ends the program (SIGPIPE). A number of a stream that is closed is taken, so that no
// file or connection of this program gets what is written to the stream. Called first in main().
void secure_standard_streams();

// Writes to standard error. What cannot be written is lost.
void tell(std::string_view text);

}  // namespace base
