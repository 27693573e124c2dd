// The rows of the listing: their order, which of them are seen, and how they come again.

const table = document.querySelector("table");
const headings = [...(table?.tHead.rows[0].cells ?? [])]; // the page to sign in has no table
const search = make("input", {
  type: "search", autocomplete: "off", placeholder: "Search this folder",
  "aria-label": "Search the names of this folder", maxLength: 250,
});
const showsHidden = make("input", { type: "checkbox" });
const hiddenBox = make("label", { className: "box" }, showsHidden, "Hidden names");
const collator = new Intl.Collator(undefined, { numeric: true, sensitivity: "base" });
let rows = null; // by name, once somebody has asked
const orders = /^([0-2])(d?)$/; // as it is kept: a column, and whether the rows go down
let order = keptOrder(); // {column, isDown}

// What somebody chose holds for all folders in this tab. A browser that keeps nothing throws.
function keptOrder() {
  let kept = null;
  try {
    kept = orders.exec(sessionStorage.order);
  } catch {
    // Each page begins with names.
  }
  return kept ? { column: Number(kept[1]), isDown: kept[2] !== "" } : { column: 0, isDown: false };
}

function keepOrder() {
  try {
    sessionStorage.order = order.column + (order.isDown ? "d" : "");
  } catch {
    // It holds for this page only.
  }
}

function allRows() {
  return [...table.tBodies].flatMap((group) => [...group.rows]);
}

// But for the one that leads up, which always stays first.
function entries() {
  return allRows().filter((row) => row.className !== "up");
}

function linkOf(row) {
  return row.cells[0].firstElementChild;
}

function nameOf(row) {
  return linkOf(row).firstElementChild.textContent;
}

function isFolder(row) {
  return linkOf(row).getAttribute("href").endsWith("/");
}

function rowOf(name) {
  rows ??= new Map(entries().map((row) => [nameOf(row), row]));
  return rows.get(name);
}

// Folders stay in front of files whichever way the rows are sorted.
function sortRows() {
  for (const [at, heading] of headings.entries()) {
    if (order.column === at) {
      heading.setAttribute("aria-sort", order.isDown ? "descending" : "ascending");
    } else {
      heading.removeAttribute("aria-sort");
    }
  }
  const keyed = entries().map((row) => {
    const key = order.column ? Number(row.cells[order.column].dataset.n ?? 0) : nameOf(row);
    return { row, key, isFile: !isFolder(row) };
  });
  const compare = order.column ? (a, b) => a - b : collator.compare;
  const sign = order.isDown ? -1 : 1;
  const before = keyed.map((one) => one.row);
  keyed.sort((a, b) => a.isFile - b.isFile || sign * compare(a.key, b.key));
  const sorted = keyed.map((one) => one.row);
  // To move the rows of a large folder takes longer than to compare their names.
  if (sorted.some((row, at) => row !== before[at])) fillGroups(sorted);
}

// The server writes times of UTC, and the reader has a clock of their own.
function showLocalTimes() {
  const two = (number) => String(number).padStart(2, "0");
  for (const row of entries()) {
    const cell = row.cells[2];
    const time = new Date(1000 * cell.dataset.n);
    if (Number.isNaN(time.getTime())) continue; // a date has a range, which a file's time has not
    cell.firstChild.data = `${String(time.getFullYear()).padStart(4, "0")}-` +
      `${two(time.getMonth() + 1)}-${two(time.getDate())} ` +
      `${two(time.getHours())}:${two(time.getMinutes())}`;
  }
}

function fillGroups(sorted) {
  const each = Math.ceil(sorted.length / table.tBodies.length);
  for (const [at, group] of [...table.tBodies].entries()) {
    group.append(...sorted.slice(at * each, (at + 1) * each));
  }
  sizeGroups();
}

// How many rows are seen gives a group a height before it was on the screen. An empty group has none.
function sizeGroups() {
  for (const group of table.tBodies) {
    const seen = [...group.rows].filter((row) => !row.hidden).length;
    group.style.setProperty("--rows", seen);
    group.hidden = seen === 0;
  }
}

function sortBy(column) {
  order = { column, isDown: order.column === column && !order.isDown };
  keepOrder();
  sortRows();
}

function isFound(name, wanted) {
  return name.normalize().toLowerCase().includes(wanted);
}

// Hides what is not wanted, and says how many are seen when something is searched.
function filterRows() {
  const wanted = search.value.normalize().toLowerCase();
  const all = entries();
  let seen = 0;
  let dots = 0;
  for (const row of all) {
    const name = nameOf(row);
    const isHidden = name.startsWith(".");
    row.hidden = (isHidden && !showsHidden.checked) || (wanted !== "" && !isFound(name, wanted));
    if (isHidden) ++dots;
    if (!row.hidden) ++seen;
  }
  sizeGroups();
  showSelection();
  hiddenBox.hidden = dots === 0;
  say(toldOf(seen, all.length, wanted));
}

function toldOf(seen, all, wanted) {
  if (wanted) return `${seen} of ${all} names have “${search.value}”.`;
  if (all === 0) return "This folder is empty.";
  return seen === 0 ? "All names of this folder are hidden." : "";
}

// Gets the listing again, and leaves the rows as they are if the server does not give it.
async function refresh() {
  const fresh = (await newListing())?.querySelector("table");
  if (!fresh) return;
  table.replaceChildren(table.tHead, ...fresh.tBodies);
  rows = null;
  showLocalTimes();
  addActions();
  sortRows();
  filterRows();
}

function startListing() {
  headings[2].textContent = "Modified";
  headings[2].title = new Intl.DateTimeFormat().resolvedOptions().timeZone;
  showLocalTimes();
  for (const [at, heading] of headings.entries()) {
    heading.replaceChildren(makeButton(heading.textContent, () => sortBy(at)));
  }
  search.oninput = filterRows;
  search.onkeydown = (event) => {
    if (event.key === "Enter" && searchBelow.isConnected) showFound();
  };
  showsHidden.onchange = filterRows;
  sortRows();
  filterRows();
}
