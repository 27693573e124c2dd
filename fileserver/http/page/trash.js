// The trash: what was deleted or replaced, to be put back or to be removed for good.

const hasTrash = table?.dataset.trash !== undefined;
const MOST_SHOWN = 500;

// Null if the server does not give it.
async function trashed() {
  const answer = await fetch("/-/trash/", { headers: { Accept: "application/json" } })
    .catch(() => null);
  return answer?.ok ? answer.json().catch(() => null) : null;
}

function trashRow({ id, path, type, deleted }, list) {
  const name = path + (type === "directory" ? "/" : "");
  const told = make("span", { className: "detail" });
  const row = make("li", {}, isolated(name), make("span", { className: "detail" },
    new Date(deleted * 1000).toLocaleString([], { dateStyle: "short", timeStyle: "short" })));
  const act = async (method) => {
    const status = await send(method, `/-/trash/${id}`);
    if (!isDone(status) && status !== 404) {
      told.textContent = status === 409
        ? "There is something of this name, or its folder is gone." : wordsOf(status);
      told.className = "bad";
      return;
    }
    const next = row.nextElementSibling ?? row.previousElementSibling;
    row.remove();
    (next ?? list.parentElement).querySelector("button").focus();
    if (method === "POST") refresh();
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
  const all = await trashed();
  if (!all) return say("The server does not give the trash.", true);
  const list = make("ul");
  list.append(...all.slice(0, MOST_SHOWN).map((one) => trashRow(one, list)));
  const words = all.length === 0 ? "Nothing was deleted that you could put back."
    : all.length > MOST_SHOWN ? `These are the last ${MOST_SHOWN} of ${all.length}.` : "";
  const dialog = make("dialog", { className: "wide", "aria-label": "Trash" },
    make("h2", {}, "Trash"), make("p", {}, words), list,
    make("div", { className: "answers" }, makeButton("Close", () => dialog.close())));
  dialog.onclose = () => dialog.remove();
  document.body.append(dialog);
  dialog.showModal();
}
