// GET and HEAD of files and folders.
#pragma once

#include "fileserver/http/handler.h"

namespace fileserver {

void get_file(Exchange& exchange, Parts& parts);

}  // namespace fileserver
