// Names that are dragged by their links to a folder: one, or all that are selected if it is among them.

let dragged = [];

// The link of the folder under the pointer, in the heading or in a row that is not dragged itself.
function folderUnder({ target }) {
  const row = target.closest?.("tbody tr");
  const link = row ? linkOf(row) : target.closest?.("h1 a");
  return link?.href.endsWith("/") && !dragged.includes(row) ? link : null;
}

function markFolder(link) {
  document.querySelector(".onto")?.classList.remove("onto");
  link?.classList.add("onto");
}

function startDrags() {
  table.ondragstart = ({ target }) => {
    const row = target.closest?.("tbody tr:not(.up)");
    const all = selected();
    dragged = all.includes(row) ? all : row ? [row] : [];
  };
  table.ondragend = () => {
    dragged = [];
    markFolder();
  };
  const ondrag = (event) => {
    const link = dragged[0] && folderUnder(event);
    markFolder(link);
    if (!link) return;
    event.preventDefault();
    const answer = event.ctrlKey || event.altKey ? "copy" : "move";
    event.dataTransfer.dropEffect = answer;
    if (event.type === "drop") sendAllTo(dragged, { answer, folder: link.pathname.slice(0, -1) });
  };
  addEventListener("dragover", ondrag);
  addEventListener("drop", ondrag);
}
