# Prints a page as it is installed. A link leads to where its target is installed. Of a link to what
# is not installed only the text stays.
#
# page: its path in the sources. installed: the paths of all pages that are installed.

BEGIN {
  RS = "\001" # the whole page is one record, because the text of a link may have two lines
  count = split(installed, paths, " ")
  for (i = 1; i <= count; ++i) {
    is_installed[paths[i]] = 1
    if (sub(/\/[^\/]*$/, "", paths[i])) is_installed[paths[i]] = 1 # its folder
  }
}

# The path in the sources of what a link of this page names.
function path_of(link) {
  return without_ways_up(folder_of(page) link)
}

function folder_of(path) {
  sub(/[^\/]*$/, "", path)
  return path
}

function without_ways_up(path) {
  sub(/\/$/, "", path)
  while (sub(/[^\/.]+\/\.\.\//, "", path)) {}
  return path
}

# From this page to another one, as both are installed: what is in docs/ lies beside SECURITY.md.
function way_to(path) {
  folder = folder_of(page)
  if (folder != "" && index(path, folder) == 1) return substr(path, length(folder) + 1)
  sub(/^docs\//, "", path)
  return (folder ~ /^docs\/./ ? "../" : "") path
}

function as_installed(link) {
  middle = index(link, "](")
  text = substr(link, 1, middle - 1)
  target = substr(link, middle + 2, length(link) - middle - 2)
  if (target ~ /^(#|[a-z]+:)/) return link
  anchor = match(target, /#/) ? substr(target, RSTART) : ""
  path = path_of(substr(target, 1, length(target) - length(anchor)))
  if (path in is_installed) return text "](" way_to(path) anchor ")"
  sub(/^!?\[/, "", text)
  return text
}

{
  rest = $0
  while (match(rest, /!?\[[^][]*\]\([^() \n]+\)/)) {
    start = RSTART
    size = RLENGTH
    printf "%s%s", substr(rest, 1, start - 1), as_installed(substr(rest, start, size))
    rest = substr(rest, start + size)
  }
  printf "%s", rest
}
