// What a file of rights means, in words (--show-rights).
#pragma once

#include <string>
#include <string_view>

#include "fileserver/rights/rights_file.h"

namespace fileserver {

// A line for each path at which a line of the file decides for the user: what he may do from there
// on, and which line says so. For "-": the names of all users in the file, one a line.
std::string rights_report(const RightsFile& file, std::string_view user);

}  // namespace fileserver
