// The trash: what was deleted or replaced, to be put back or to be removed for good.

const hasTrash = table?.dataset.trash !== undefined;
const MOST_SHOWN = 500;

function trashRow({ id, path, type, deleted }) {
  const name = path + (type === "directory" ? "/" : "");
  const told = detail();
  const row = make("li", {}, isolated(name), detail(timeText(deleted)));
  const act = async (method) => {
    const status = await send(method, `/-/trash/${id}`);
    const words = status === 409 ? "There is something of this name, or its folder is gone."
      : wordsOf(status);
    if (endRow(row, told, status, words) && method === "POST") refresh();
  };
  const remove = async () => {
    const { answer } = await question({
      title: "Remove ", name, text: "This cannot be undone.", answers: ["Remove", "Cancel"],
      focused: "Cancel",
    });
    if (answer === "Remove") act("DELETE");
  };
  row.append(makeButton("Put back", () => act("POST"), `Put back ${name}`),
    makeButton("Remove…", remove, `Remove ${name}`), told);
  return row;
}

async function showTrash() {
  const all = (await ask("/-/trash/")).told;
  if (!all) return say("The server does not give the trash.", true);
  const list = make("ul");
  list.append(...all.slice(0, MOST_SHOWN).map((one) => trashRow(one)));
  const words = all.length === 0 ? "Nothing was deleted that you could put back."
    : all.length > MOST_SHOWN ? `These are the last ${MOST_SHOWN} of ${all.length}.` : "";
  openDialog("Trash", make("p", {}, words), list);
}
