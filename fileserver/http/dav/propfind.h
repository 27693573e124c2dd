// PROPFIND and PROPPATCH: what is known of a file, of a folder, and of what is in a folder.
#pragma once

#include "fileserver/http/handler.h"

namespace fileserver::dav {

// 207 with the properties of the resource, and with Depth: 1 of what a listing of it names. 403
// with another depth, 404, 400 and what read_xml() answers.
void find_properties(Exchange& exchange, Parts& parts);

// No property can be set. 207 with 403 for each one that was named, 404, 400 and what read_xml()
// answers.
void change_properties(Exchange& exchange, Parts& parts);

}  // namespace fileserver::dav
