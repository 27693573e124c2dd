// Links for guests: making one, and the list of those that were made.

const DAY_S = 86400;
const LINK_WORDS = {
  403: "Your account may not make such a link.",
  409: "You have as many links as there may be. End one of them first.",
  422: "A link has 1 to 3650 days, 1 to 1000000 uses, and a password of at most 128 bytes.",
};

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
  return ask("/-/links", wish);
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
  const words = make("p", { className: "status bad", role: "status" });
  const dialog = make("dialog", { "aria-label": `Link to ${name}` }, form);
  form.append(words, make("div", { className: "answers" }, make("button", {}, "Make link"),
    makeButton("Cancel", () => dialog.close())));
  onSubmit(form, async () => {
    const { status, told } = await makeLink(path, {
      days: days.value, uses: uses.value, password: password.value, drops: drops.checked,
    });
    if (!told) return words.replaceChildren(LINK_WORDS[status] ?? wordsOf(status));
    dialog.close();
    showOnce("Link", "Whoever has this address needs no account. It is shown once.", "Address",
      location.origin + told.address);
  });
  showModal(dialog);
}

function linkRow(link) {
  const name = targetOf(link);
  const told = detail(wordsOfLink(link));
  const row = make("li", {}, isolated(name), told);
  const end = async () => endRow(row, told, await send("DELETE", `/-/links/${link.id}`));
  row.append(makeButton("End", end, `End the link to ${name}`));
  return row;
}

async function showLinks() {
  const all = (await ask("/-/links")).told;
  if (!all) return say("The server does not give the links.", true);
  const list = make("ul");
  list.append(...all.map((one) => linkRow(one)));
  const folder = makeButton("Link to this folder…", () => {
    dialog.close();
    askForLink(pathOf(""), pathOf(""), isWritable);
  });
  const dialog = openDialog("Links for guests",
    make("p", {}, all.length ? "" : "You have made none."), list, folder);
}
