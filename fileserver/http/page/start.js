// Puts the tools above the table.

// What went wrong before does not stay beside what begins now. It is called before the button is.
function forgetWhatWasSaid(event) {
  if (event.target.matches("button")) say("");
}

function startFolder() {
  const tools = make("div", { className: "tools", role: "group", "aria-label": "Tools" });
  if (isWritable) tools.append(...sourceButtons());
  else tools.append(make("p", { className: "box" }, READ_ONLY));
  if (hasTrash) tools.append(makeButton("Trash", showTrash));
  const isUser = document.querySelector(".who") !== null;
  if (isUser) tools.append(makeButton("Links", showLinks));
  tools.append(search, ...(isUser ? [searchBelow] : []), hiddenBox);
  for (const group of [tools, selection]) group.addEventListener("click", forgetWhatWasSaid, true);
  table.before(tools, selection, panel, statusLine);
  addActions();
  startListing();
  startSelection();
  startShown();
  if (isWritable) {
    startChanges();
    startDrags();
  }
  startDrops();
  startSignOut();
}

if (table) startFolder();
else startSignIn();
