// What may be done with the names of a folder that the user may write.

const isWritable = table?.dataset.writable !== undefined;
const READ_ONLY = "You may read this folder, but not change it.";

// A box and, for who may change the folder, a button in each row. One listener for the table is
// enough for all of them. The rows are copied first: the browser would count them again after each
// change.
function addActions() {
  const box = make("input", { type: "checkbox" });
  const button = makeButton("⋯");
  const cell = make("td", { className: "actions" }, box);
  if (isWritable) cell.append(button);
  for (const row of allRows()) {
    if (row.className === "up") {
      row.append(make("td"));
      continue;
    }
    box.setAttribute("aria-label", `Select ${nameOf(row)}`);
    button.setAttribute("aria-label", `Rename or delete ${nameOf(row)}`);
    row.append(cell.cloneNode(true));
  }
}

// Gets the listing again and puts the keyboard on the name, or where it can go on from.
async function showChange(words, name) {
  await refresh();
  say(words);
  const row = name && rowOf(name);
  (row ? linkOf(row) : search).focus();
}

// Says why a name was not changed. Where somebody else was quicker, the listing is old.
async function showRefusal(name, status, isNew) {
  if ([404, 409, 412].includes(status)) await refresh();
  say([isolated(name), `: ${wordsOf(status, isNew)}`], true);
}

// The ending stays when somebody types over what is selected.
function lengthOfStem(row) {
  const name = nameOf(row);
  const dot = isFolder(row) ? 0 : name.search(/\.[\p{L}\p{N}]{1,10}$/u);
  return dot > 0 ? dot : name.length;
}

async function change(row) {
  say("");
  const name = nameOf(row);
  const { answer, text } = await question({
    title: "", name, field: ["Name", name, lengthOfStem(row)],
    answers: ["Rename", "Delete…", "Move or copy…", "Link…", "Cancel"],
  });
  if (answer === "Rename" && text !== name) return rename(row, text);
  if (answer === "Delete…") return remove(row);
  if (answer === "Move or copy…") return moveOrCopy(row);
  if (answer === "Link…") return askForLink(pathOf(name), name, isFolder(row));
}

// Half of a pair of code units (\p{Cs}) has no bytes that a URL could name.
function isName(text) {
  return text !== "" && text !== "." && text !== ".." && !/[\p{Cs}/\\\x00-\x1f\x7f]/u.test(text);
}

async function rename(row, name) {
  if (!isName(name)) return say("This cannot be a name.", true);
  const slash = isFolder(row) ? "/" : "";
  const fields = {
    Destination: location.origin + addressOf(name) + slash, Overwrite: "F",
  };
  const answered = await send("MOVE", linkOf(row).pathname, { fields });
  if (!isDone(answered)) return showRefusal(nameOf(row), answered);
  await showChange(["Renamed to ", isolated(name), "."], name);
}

// The path of this page as somebody would write it. Bytes that are no UTF-8 cannot be written.
function writtenFolder() {
  try {
    return decodeURIComponent(FOLDER);
  } catch {
    return "/";
  }
}

// Another folder may be written with or without the slashes around it. Null: nothing is to be done.
async function askForFolder(name) {
  const { answer, text } = await question({
    title: "Move or copy ", name, text: "The folder is one that is there, such as /plans/old.",
    field: ["To the folder", writtenFolder()], answers: ["Move", "Copy", "Cancel"],
  });
  if (answer !== "Move" && answer !== "Copy") return null;
  const parts = text.split("/").filter((part) => part !== "");
  if (parts.every(isName)) {
    return { answer: answer.toLowerCase(), folder: parts.map((part) => `/${encodeURIComponent(part)}`).join("") };
  }
  say("This cannot be a folder.", true);
  return null;
}

// Where a name would be in the folder that was asked for.
function addressIn(row, { folder }) {
  const own = linkOf(row).pathname;
  return folder + own.slice(own.replace(/\/$/, "").lastIndexOf("/"));
}

function isHere(row, asked) {
  return addressIn(row, asked) === linkOf(row).pathname;
}

function sendTo(row, asked) {
  const fields = { Destination: location.origin + addressIn(row, asked), Overwrite: "F" };
  return send(asked.answer.toUpperCase(), linkOf(row).pathname, { fields });
}

async function moveOrCopy(row) {
  const name = nameOf(row);
  const asked = await askForFolder(name);
  if (!asked) return;
  if (isHere(row, asked)) return say([isolated(name), " is in this folder already."], true);
  const status = await sendTo(row, asked);
  if (status === 409) return say("There is no such folder.", true);
  if (!isDone(status)) return showRefusal(name, status);
  await showChange([isolated(name), asked.answer === "move" ? " is moved." : " is copied."], name);
}

async function mayRemove(name, hasFolder) {
  const undo = hasTrash ? "It can be put back from the trash." : "This cannot be undone.";
  const { answer } = await question({
    title: "Delete ", name, answers: ["Delete", "Cancel"], focused: "Cancel",
    text: (hasFolder ? "All that is in a folder is deleted with it. " : "") + undo,
  });
  return answer === "Delete";
}

async function remove(row) {
  const name = nameOf(row);
  if (!(await mayRemove(name, isFolder(row)))) return;
  const answered = await send("DELETE", linkOf(row).pathname);
  if (!isDone(answered)) return showRefusal(name, answered);
  await showChange([isolated(name), " is deleted."]);
}

async function makeFolder() {
  const { answer, text } = await question({
    title: "New folder", field: ["Name", ""], answers: ["Create", "Cancel"],
  });
  if (answer !== "Create" || text === "") return;
  if (!isName(text)) return say("This cannot be a name.", true);
  const answered = await send("MKCOL", addressOf(text) + "/");
  if (!isDone(answered)) return showRefusal(text, answered === 405 ? 412 : answered, true);
  await showChange(["The folder ", isolated(text), " is made."], text);
}

function startChanges() {
  table.addEventListener("click", (event) => {
    const button = event.target.closest("td.actions button");
    if (button) change(button.closest("tr"));
  });
}
