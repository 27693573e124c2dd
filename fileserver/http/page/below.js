// The search in the folders below this one, which the server makes.

const searchBelow = makeButton("Search below", showFound, "Search the folders below this one");

async function showFound() {
  if (search.value === "" || searchBelow.disabled) return search.focus();
  say("…");
  searchBelow.disabled = true;
  const text = encodeURIComponent(search.value.normalize());
  const { status, told } = await ask(`/-/search${FOLDER}?q=${text}`);
  searchBelow.disabled = false;
  if (!told) return say(wordsOf(status), true);
  say("");
  const list = make("ul", {}, ...told.found.map(({ path, type }) => {
    const slash = type === "directory" ? "/" : "";
    const isUtf8 = !path.includes("\ufffd"); // else no address leads there
    const link = make(isUtf8 ? "a" : "span", {}, isolated(path), slash);
    if (isUtf8) link.href = addressOf(path) + slash;
    return make("li", {}, link);
  }));
  const words = `${told.found.length} names below this folder have “${search.value}”.`;
  const more = " There are too many to look at all: search further below.";
  openDialog("Found", make("p", {}, words + (told.complete ? "" : more)), list);
}
