// Links for guests: making one, and the list of those that were made.

const DAY_S = 86400;
const LINK_WORDS = {
  403: "Your account may not make such a link.",
  409: "You have as many links as there may be. End one of them first.",
  422: "A link has 1 to 3650 days, 1 to 1000000 uses, and a password of at most 128 bytes.",
};

async function ownLinks() {
  const answer = await fetch("/-/links", { headers: { Accept: "application/json" } })
    .catch(() => null);
  return answer?.ok ? answer.json().catch(() => null) : null;
}

// The path of a name in this folder. Null where its bytes are no UTF-8: a link cannot name it.
function pathOf(name) {
  try {
    return decodeURIComponent(FOLDER) + name;
  } catch {
    return null;
  }
}

// What is left empty is no bound.
async function makeLink(path, { days, uses, password, drops }) {
  const whole = (text) => (text === "" ? null : Number(text));
  const wish = {
    path, may: drops ? "drop" : "read", uses: whole(uses), password: password || null,
  };
  if (days !== "") wish.end = Math.floor(Date.now() / 1000 + Number(days) * DAY_S);
  const answer = await fetch("/-/links", {
    method: "POST", headers: { Accept: "text/html" }, body: JSON.stringify(wish),
  }).catch(() => null);
  if (answer?.status === 201) return { address: (await answer.json()).address };
  return { status: answer?.status ?? NO_ANSWER };
}

// A dialogue that is closed by its last button, and by the Escape key.
function openDialog(title, ...children) {
  const close = makeButton("Close", () => dialog.close());
  const dialog = make("dialog", { className: "wide", "aria-label": title },
    make("h2", {}, title), ...children, make("div", { className: "answers" }, close));
  dialog.onclose = () => dialog.remove();
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

// The address is told once. A page without encryption may not write into the clipboard.
function showAddress(address) {
  const input = make("input", { type: "text", readOnly: true, value: location.origin + address });
  const copy = makeButton("Copy", () => {
    input.select();
    navigator.clipboard?.writeText(input.value);
  });
  openDialog("Link", make("p", {}, "Whoever has this address needs no account. It is shown once."),
    make("label", { className: "field" }, "Address", input), copy);
  input.select();
}

// To the folder of this page, or to what a row names.
async function askForLink(path, name, mayDrop) {
  if (path === null) return say("A link cannot name this folder.", true);
  const field = (words, values) => {
    const input = make("input", { autocomplete: "off", ...values });
    return [input, make("label", { className: "field" }, words, input)];
  };
  const number = { type: "number", min: 1 };
  const [days, daysLabel] = field("Days until it ends", { ...number, max: 3650, value: 7 });
  const [uses, usesLabel] = field("Uses", { ...number, max: 1e6, placeholder: "any number" });
  const [password, passwordLabel] = field("Password", { type: "text", placeholder: "none" });
  const drops = make("input", { type: "checkbox" });
  const form = make("form", {}, make("h2", {}, "Link to ", isolated(name)), daysLabel, usesLabel,
    passwordLabel);
  const box = make("label", { className: "box" }, drops, "Guests put files into it, and see nothing");
  if (mayDrop) form.append(box);
  const told = make("p", { className: "status bad", role: "status" });
  const dialog = make("dialog", { "aria-label": `Link to ${name}` }, form);
  form.append(told, make("div", { className: "answers" }, make("button", {}, "Make link"),
    makeButton("Cancel", () => dialog.close())));
  form.onsubmit = async (event) => {
    event.preventDefault();
    const { address, status } = await makeLink(path, {
      days: days.value, uses: uses.value, password: password.value, drops: drops.checked,
    });
    if (!address) return told.replaceChildren(LINK_WORDS[status] ?? wordsOf(status));
    dialog.close();
    showAddress(address);
  };
  dialog.onclose = () => dialog.remove();
  document.body.append(dialog);
  dialog.showModal();
}

function wordsOfLink({ may, uses, end, password }) {
  const texts = [may === "drop" ? "guests put files into it" : "guests read it"];
  if (password) texts.push("with a password");
  if (uses !== null) texts.push(`${uses} ${uses === 1 ? "use" : "uses"} left`);
  if (end !== null) texts.push(`until ${new Date(1000 * end).toLocaleDateString()}`);
  return texts.join(", ");
}

function linkRow(link, list) {
  const name = `/${link.path === "/" ? "" : link.path}`;
  const told = make("span", { className: "detail" }, wordsOfLink(link));
  const row = make("li", {}, isolated(name), told);
  const end = async () => {
    const status = await send("DELETE", `/-/links/${link.id}`);
    if (!isDone(status) && status !== 404) {
      told.textContent = wordsOf(status);
      told.className = "bad";
      return;
    }
    const next = row.nextElementSibling ?? row.previousElementSibling;
    row.remove();
    (next ?? list.parentElement).querySelector("button").focus();
  };
  row.append(makeButton("End", end, `End the link to ${name}`));
  return row;
}

async function showLinks() {
  const all = await ownLinks();
  if (!all) return say("The server does not give the links.", true);
  const list = make("ul");
  list.append(...all.map((one) => linkRow(one, list)));
  const folder = makeButton("Link to this folder…", () => {
    dialog.close();
    askForLink(pathOf(""), pathOf(""), isWritable);
  });
  const dialog = openDialog("Links for guests",
    make("p", {}, all.length ? "" : "You have made none."), list, folder);
}
