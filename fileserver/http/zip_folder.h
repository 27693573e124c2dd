// A whole folder as one zip file, which is sent while it is made. docs/http.md describes it.
#pragma once

#include <string_view>

#include "fileserver/http/handler.h"

namespace fileserver {

inline constexpr std::string_view kZipPaths = "-/zip/";

// GET and HEAD of "/-/zip/FOLDER/", and of "/-/zip/" for the served folder.
void get_zip(Exchange& exchange, Parts& parts);

}  // namespace fileserver
