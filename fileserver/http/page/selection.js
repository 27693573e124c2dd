// Several names at once: those that are ticked and seen.

const howMany = make("span");
const tickAll = make("input", { type: "checkbox", "aria-label": "Select all names" });
const selection = make("div", {
  className: "selection", role: "group", "aria-label": "Selected names", hidden: true,
}, howMany);

function boxOf(row) {
  return row.lastElementChild.querySelector("input");
}

function selected() {
  return [...table.querySelectorAll("tbody tr:not([hidden]) input:checked")]
    .map((box) => box.closest("tr"));
}

function showSelection() {
  const { length } = selected();
  selection.hidden = length === 0;
  tickAll.checked = length > 0 && tickAll.checked;
  howMany.textContent = `${length} selected`;
}

function select(isWanted) {
  for (const row of entries()) boxOf(row).checked = !row.hidden && isWanted(row);
  showSelection();
}

// The server makes it while it sends. An address has room for some names only.
function zipSelected() {
  const whole = document.querySelector('header a[href^="/-/zip/"], header a[href="?zip"]')
    .getAttribute("href");
  const names = selected()
    .map((row) => `name=${linkOf(row).getAttribute("href").replace(/\/$/, "")}`).join("&");
  if (names.length > 7000) return say("These are too many names for one zip.", true);
  location.href = `${whole}${whole.startsWith("?") ? "&" : "?"}${names}`;
}

// Does the same to all, one after the other. What was refused is selected still.
async function doToAll(rows, words, act) {
  const refused = new Map();
  let status = 0;
  for (const [at, row] of rows.entries()) {
    say(`${at} of ${rows.length} ${words}…`);
    if (refused.size === 0 || !HOLD_UP_ALL.includes(status)) status = await act(row);
    if (!isDone(status)) refused.set(nameOf(row), status);
  }
  await refresh();
  select((row) => refused.has(nameOf(row)));
  search.focus();
  const done = `${rows.length - refused.size} ${words}`;
  if (refused.size === 0) return say(`${done}.`);
  const [name, first] = refused.entries().next().value;
  say([`${done}, ${refused.size} not. `, isolated(name), `: ${wordsOf(first)}`], true);
}

async function removeSelected() {
  const rows = selected();
  if (await mayRemove(`${rows.length} names`, rows.some(isFolder))) {
    await doToAll(rows, "deleted", (row) => send("DELETE", linkOf(row).pathname));
  }
}

async function moveOrCopySelected() {
  const rows = selected();
  const asked = await askForFolder(`${rows.length} names`);
  if (!asked) return;
  if (isHere(rows[0], asked)) return say("They are in this folder already.", true);
  await sendAllTo(rows, asked);
}

function sendAllTo(rows, asked) {
  const words = asked.answer === "move" ? "moved" : "copied";
  return doToAll(rows, words, (row) => sendTo(row, asked));
}

function startSelection() {
  table.classList.add("changed");
  table.tHead.rows[0].append(make("th", { scope: "col", className: "actions" }, tickAll));
  tickAll.onchange = () => select(() => tickAll.checked);
  table.addEventListener("change", showSelection);
  if (isWritable) {
    selection.append(makeButton("Move or copy selected…", moveOrCopySelected),
      makeButton("Delete selected…", removeSelected));
  }
  selection.append(makeButton("Zip selected", zipSelected),
    makeButton("Select none", () => select(() => false)));
}
