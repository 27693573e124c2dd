// Puts the tools above the table.

function startFolder() {
  const tools = make("div", { className: "tools", role: "group", "aria-label": "Tools" });
  if (isWritable) tools.append(...sourceButtons());
  else tools.append(make("p", { className: "box" }, READ_ONLY));
  if (hasTrash) tools.append(makeButton("Trash", showTrash));
  const isUser = document.querySelector(".who") !== null;
  if (isUser) tools.append(makeButton("Links", showLinks));
  tools.append(search, ...(isUser ? [searchBelow] : []), hiddenBox);
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
