// GET and HEAD of files and folders.
#pragma once

#include "fileserver/http/parts.h"

namespace fileserver {

void get_file(Exchange& exchange, const HttpParts& parts);

}  // namespace fileserver
