#pragma once

#include <string>

namespace flags {

// The commit of the sources, such as "5db8112bf4aa", or "5db8112bf4aa, changed" where they are not
// those of the commit. Empty if it is not known.
std::string commit();

}  // namespace flags
