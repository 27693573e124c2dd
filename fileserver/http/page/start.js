// Puts the tools above the table.

const tools = make("div", { className: "tools", role: "group", "aria-label": "Tools" });
if (isWritable) tools.append(...sourceButtons());
tools.append(search, hiddenBox);
table.before(tools, panel, statusLine);
startListing();
if (isWritable) {
  startChanges();
  startDrops();
}
