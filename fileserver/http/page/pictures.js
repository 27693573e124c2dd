// The pictures of the folder, one after the other.

const PICTURE = /\.(avif|bmp|gif|jpe?g|png|webp)$/i;

function isPicture(row) {
  return row.className !== "up" && !isFolder(row) && PICTURE.test(nameOf(row));
}

function showPicture(first) {
  const all = entries().filter((row) => !row.hidden && isPicture(row));
  const image = make("img");
  const alone = make("a", {}, "Open alone");
  const dialog = openDialog("", image, make("p", { className: "answers" },
    makeButton("Previous", () => show(-1)), makeButton("Next", () => show(1)), alone));
  let at = all.indexOf(first);
  const show = (by) => {
    at = (at + by + all.length) % all.length;
    const name = nameOf(all[at]);
    image.src = alone.href = linkOf(all[at]).href;
    image.alt = dialog.ariaLabel = name;
    dialog.querySelector("h2").replaceChildren(isolated(name), ` (${at + 1} of ${all.length})`);
  };
  dialog.onkeydown = ({ key }) => {
    if (key === "ArrowLeft") show(-1);
    if (key === "ArrowRight") show(1);
  };
  show(0);
}

// A click that opens another tab or saves the file does so still.
function startPictures() {
  table.addEventListener("click", (event) => {
    const row = event.target.closest("td:first-child a")?.closest("tr");
    if (!row || !isPicture(row) || event.ctrlKey || event.metaKey || event.shiftKey) return;
    event.preventDefault();
    showPicture(row);
  });
}
