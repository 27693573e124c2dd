// Shows pictures and texts of Markdown.

export function show(row) {
  return isText(row) ? showText(row) : showPicture(row);
}

function answers(...children) {
  return make("p", { className: "answers" }, ...children);
}

// The pictures of the folder, one after the other.
function showPicture(first) {
  const all = entries().filter((row) => !row.hidden && isShown(row) && !isText(row));
  const image = make("img");
  const alone = make("a", {}, "Open alone");
  const dialog = openDialog("", image, answers(
    makeButton("Previous", () => turn(-1)), makeButton("Next", () => turn(1)), alone));
  let at = all.indexOf(first);
  const turn = (by) => {
    at = (at + by + all.length) % all.length;
    const name = nameOf(all[at]);
    image.src = alone.href = linkOf(all[at]).href;
    image.alt = dialog.ariaLabel = name;
    dialog.querySelector("h2").replaceChildren(isolated(name), ` (${at + 1} of ${all.length})`);
  };
  dialog.onkeydown = ({ key }) => {
    if (key === "ArrowLeft") turn(-1);
    if (key === "ArrowRight") turn(1);
  };
  turn(0);
}

// HTML in it is text, as everything is that is not known here.
async function showText(row) {
  const { href, pathname } = linkOf(row);
  const headers = { Accept: "text/html" }; // as for all that asks
  const answer = await fetch(location.origin + pathname, { headers }).catch(() => null);
  if (!answer?.ok) return say(wordsOf(answer?.status ?? NO_ANSWER), true);
  const text = filled("article", { tabIndex: 0, autofocus: true },
    blocks((await answer.text()).split(/\r?\n/), href));
  const dialog = openDialog("", text, answers(make("a", { href }, "Open as text")));
  dialog.ariaLabel = nameOf(row);
  dialog.querySelector("h2").replaceChildren(isolated(nameOf(row)));
}

// As make(), but for any number of children: a call takes some ten thousand at most.
function filled(kind, values, ...lists) {
  const element = make(kind, values);
  for (const children of lists) {
    for (const child of children) element.append(child);
  }
  return element;
}

const INDENTED = /^ {4}/;
const FENCE = /^ {0,3}(```+|~~~+)/;
const HEADING = /^ {0,3}(#{1,6})(?: +(.*))?$/;
const RULE = /^ {0,3}([-*_])(?: *\1){2,} *$/;
const QUOTE = /^ {0,3}> ?/;
const ITEM = /^( *)(?:[-*+]|(\d{1,9})[.)]) +/;
const ROW = /^ *\|/; // of a table, which is shown as it is written
const BEGINS = [FENCE, HEADING, RULE, QUOTE, ITEM, ROW];

const MOST_DEEP = 20; // what is deeper in quotes and lists is text

// The elements of these lines. `base` is the address that links count from.
function* blocks(lines, base, depth = 0) {
  for (let at = 0; at < lines.length;) {
    const line = lines[at];
    const take = (goesOn) => {
      const from = at++;
      while (at < lines.length && goesOn(lines[at])) ++at;
      return lines.slice(from, at);
    };
    if (line.trim() === "") {
      ++at;
    } else if (INDENTED.test(line)) {
      const code = take((one) => INDENTED.test(one) || one.trim() === "");
      yield make("pre", {}, code.map((one) => one.slice(4)).join("\n").trimEnd());
    } else if (FENCE.test(line)) {
      const fence = FENCE.exec(line)[1];
      const ends = (one) => one.startsWith(fence) && one === fence[0].repeat(one.length);
      const code = take((one) => !ends(one.trim()));
      ++at;
      yield make("pre", {}, code.slice(1).join("\n"));
    } else if (HEADING.test(line)) {
      const [, marks, text = ""] = HEADING.exec(line);
      ++at;
      const title = inline(text.trimEnd().replace(/ #+$/, ""), base);
      yield filled(`h${Math.min(6, marks.length + 2)}`, {}, title);
    } else if (RULE.test(line)) {
      ++at;
      yield make("hr");
    } else if (depth < MOST_DEEP && QUOTE.test(line)) {
      const quoted = take((one) => QUOTE.test(one)).map((one) => one.replace(QUOTE, ""));
      yield filled("blockquote", {}, blocks(quoted, base, depth + 1));
    } else if (depth < MOST_DEEP && ITEM.test(line)) {
      yield list(take((one) => ITEM.test(one) || /^ +\S/.test(one)), base, depth + 1);
    } else if (ROW.test(line)) {
      yield make("pre", {}, take((one) => ROW.test(one)).join("\n"));
    } else {
      const text = take((one) => one.trim() !== "" && !BEGINS.some((begins) => begins.test(one)));
      yield filled("p", {}, inline(text.join("\n"), base));
    }
  }
}

// Items with deeper marks, and further lines, are of the item above them.
function list(lines, base, depth) {
  const [, indent, number] = ITEM.exec(lines[0]);
  const items = make(number ? "ol" : "ul", number ? { start: Number(number) } : {});
  for (let at = 0; at < lines.length;) {
    const from = at++;
    const isDeep = (line) => (ITEM.exec(line)?.[1] ?? `${indent} `).length > indent.length;
    while (at < lines.length && isDeep(lines[at])) ++at;
    const first = lines[from].replace(ITEM, "");
    const deep = lines.slice(from + 1, at)
      .map((one) => one.slice(Math.min(indent.length + 2, one.search(/\S/))));
    items.append(filled("li", {}, inline(first, base), blocks(deep, base, depth)));
  }
  return items;
}

// No alternative passes the sign that it begins with, so no text takes longer than its length.
const INLINE = new RegExp([
  /\\([!-/:-@[-`{-~])/, /`([^`]+)`/, /\*\*([^*]+)\*\*/, /\*([^*\s][^*]*)\*/, /\b_([^_\s][^_]*)_\b/,
  /!?\[([^[\]]*)\]\(([^()\s]+)(?: "[^"]*")?\)/, /<(https?:[^<>\s]+)>/,
].map(({ source }) => source).join("|"), "g");

function* inline(text, base) {
  let end = 0;
  for (const found of text.matchAll(INLINE)) {
    const [all, sign, code, strong, emphasis, alsoEmphasis, label, to, address] = found;
    yield text.slice(end, found.index);
    end = found.index + all.length;
    if (sign) yield sign;
    else if (code) yield make("code", {}, code);
    else if (strong) yield filled("strong", {}, inline(strong, base));
    else if (emphasis ?? alsoEmphasis) yield filled("em", {}, inline(emphasis ?? alsoEmphasis, base));
    else yield linkTo(to ?? address, address ? [address] : inline(label || to, base), base) ?? all;
  }
  yield text.slice(end);
}

// Null where it would lead to anything but a page.
function linkTo(address, children, base) {
  const { href, protocol } = URL.canParse(address, base) ? new URL(address, base) : {};
  return /^https?:$/.test(protocol) ? filled("a", { href, rel: "noreferrer" }, children) : null;
}
