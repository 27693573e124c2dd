// A whole folder as one zip file, which is sent while it is made. docs/http.md describes it.
#pragma once

#include <cstdint>
#include <string_view>

#include "fileserver/http/handler.h"

namespace fileserver {

inline constexpr std::string_view kZipPaths = "-/zip/";

// What all zips together may take for the names that they have sent, and a single one of them. A
// zip whose names need more is cut.
inline constexpr std::int64_t kZipsBytes = std::int64_t{128} << 20;
inline constexpr std::int64_t kOneZipBytes = std::int64_t{64} << 20;

// GET and HEAD of "/-/zip/FOLDER/", and of "/-/zip/" for the served folder.
void get_zip(Exchange& exchange, Parts& parts);

}  // namespace fileserver
