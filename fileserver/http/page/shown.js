// Pictures and texts of Markdown open on the page, unless a click is to open another tab or to save the file. What
// shows them comes when it is needed.

const SHOWN = /\.(avif|bmp|gif|jpe?g|png|webp|md)$/i;
const MOST_OF_TEXT = 500_000;

function isShown(row) {
  return row.className !== "up" && SHOWN.test(nameOf(row)) && !isFolder(row) &&
    !(isText(row) && row.cells[1].dataset.n > MOST_OF_TEXT);
}

function isText(row) {
  return nameOf(row).toLowerCase().endsWith(".md");
}

function startShown() {
  table.addEventListener("click", (event) => {
    const row = event.target.closest("td:first-child a")?.closest("tr");
    if (!row || !isShown(row) || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    import("/-/show.js").then(({ show }) => show(row), () => location.assign(linkOf(row).href));
  });
}
