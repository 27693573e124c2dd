// What --help=config prints.
#pragma once

#include <string>

#include "flags/page.h"

namespace flags {

// A file for --config in which every flag is a comment: its help, and a line such as
// `# listen = 127.0.0.1:9000` with its default. A flag without one has nothing behind the "=". The
// lines with a value can all be given together.
std::string config_template(const Page& page);

}  // namespace flags
