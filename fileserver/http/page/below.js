// The search in the folders below this one, which the server makes.

const searchBelow = makeButton("Search below", showFound, "Search the folders below this one");

async function showFound() {
  if (search.value === "") return search.focus();
  say("…");
  const { status, told } = await ask(`/-/search${FOLDER}?q=${encodeURIComponent(search.value)}`);
  if (!told) return say(wordsOf(status), true);
  say("");
  const list = make("ul", {}, ...told.found.map(({ path, type }) => {
    const slash = type === "directory" ? "/" : "";
    return make("li", {}, make("a", { href: addressOf(path) + slash }, isolated(path), slash));
  }));
  const words = `${told.found.length} names below this folder have “${search.value}”.`;
  const more = " There are too many to look at all: search further below.";
  openDialog("Found", make("p", {}, words + (told.complete ? "" : more)), list);
}
