// The page on which administrators look after the accounts of all.

const people = document.querySelector("[data-people]");
const more = document.querySelector("[data-more]");
const MOST_TOLD = 500; // accounts at once
let pages = 1;

const SELF = "You cannot disable or remove yourself. Another administrator can.";
const PEOPLE_WORDS = {
  404: "There is no such account any more.",
  409: "There is an account of this name already.",
  422: "A user name has 1 to 64 letters, digits, and any of . _ - @ +",
};

// Who is no administrator any more sees what all others see here.
async function showPeople() {
  const all = [];
  let isMore = true;
  for (let page = 0; page < pages && isMore; ++page) {
    const { status, told } = await ask("/-/admin/list", all.length && { user: all.at(-1).user });
    if (status === 404) return location.reload();
    if (!told) return sayRefusal(status);
    all.push(...told);
    isMore = told.length === MOST_TOLD;
  }
  people.replaceChildren(...all.map(personRow));
  more.hidden = !isMore;
}

async function showMore() {
  const shown = people.children.length;
  ++pages;
  await showPeople();
  people.children[shown]?.querySelector("button").focus();
}

function personRow(person) {
  const { user, admin, disabled, invited } = person;
  const states = [admin && "administrator", disabled && "disabled", invited && "invited"];
  const row = make("li", {}, isolated(user), detail(states.filter(Boolean).join(", ")));
  row.append(makeButton("⋯", () => manage(person, row), `Manage ${user}`));
  return row;
}

// Returns what was told, or true; null if nothing was changed.
async function changePerson(verb, user) {
  const { status, told } = await ask(`/-/admin/${verb}`, { user });
  if (isDone(status)) return told ?? true;
  if (status === 404) await showPeople();
  await sayRefusal(status, verb === "add" ? PEOPLE_WORDS : { ...PEOPLE_WORDS, 422: SELF });
  return null;
}

async function addPerson({ user }) {
  say("");
  const told = await changePerson("add", user.value);
  if (!told) return;
  user.value = "";
  await showPeople();
  showLink(told, "");
}

function showLink({ user, link }, words) {
  showOnce(`Link for ${user}`, `${user} chooses a password at this address, once, within three ` +
    `days. ${words}It is shown once.`, "Address", location.origin + link);
}

async function manage(person, row) {
  say("");
  const { user, disabled, invited } = person;
  const isSelf = user === ownName();
  const reset = invited ? "New link" : "Reset password";
  const answers = ["Sign-ins…", "Rights…", reset];
  if (!isSelf) answers.push(disabled ? "Enable" : "Disable", "Remove…");
  const { answer } = await question({
    title: "", name: user, text: isSelf ? SELF : "", answers: [...answers, "Cancel"],
  });
  if (answer === "Sign-ins…") return showSignIns(user);
  if (answer === "Rights…") return showRights(user);
  if (answer === "Remove…") return removePerson(user, row);
  if (answer === reset) {
    const told = await changePerson("reset", user);
    return told && showLink(told, invited ? "" : "Until then the old password counts. ");
  }
  if (answer !== "Enable" && answer !== "Disable") return;
  if (!(await changePerson(answer.toLowerCase(), user))) return;
  const fresh = personRow({ ...person, disabled: !disabled });
  row.replaceWith(fresh);
  fresh.querySelector("button").focus();
  say([isolated(user), disabled ? " is enabled." : " is disabled. Nothing of the account is lost."]);
}

async function removePerson(user, row) {
  const { answer } = await question({
    title: "Remove ", name: user, answers: ["Remove", "Cancel"], focused: "Cancel",
    text: "The sessions, application passwords and links of this account end. Files stay as they " +
      "are. This cannot be undone.",
  });
  if (answer !== "Remove" || !(await changePerson("remove", user))) return;
  takeRow(row);
  say([isolated(user), " is removed."]);
}

// A dialogue with what is told of somebody. The name is in no address: browsers shorten `/..`.
async function showTold(address, user, title, none, rowOf) {
  const { status, told } = await ask(`/-/admin/${address}`, { user });
  if (status === 404) await showPeople();
  if (!told) return sayRefusal(status, PEOPLE_WORDS);
  const list = make("ul");
  list.append(...told.map(rowOf));
  openDialog(`${title} of ${user}`, make("p", {}, told.length ? "" : none), list);
}

function showSignIns(user) {
  return showTold("sessions", user, "Sign-ins", "There are none.", (one) => signInRow(user, one));
}

function signInRow(user, one) {
  const { id, kind, name } = one;
  const title = kind === "session" ? "Session"
    : kind === "app" ? `Application password: ${name}` : `Link: ${targetOf(one)}`;
  const told = detail(kind === "link" ? wordsOfLink(one) : usesText(one));
  const row = make("li", {}, isolated(title), told);
  const end = async () => {
    const { status } = await ask("/-/admin/end", { user, id });
    const mayBeOut = status === 401 || user === ownName();
    if (mayBeOut && !(await isSignedIn())) return location.reload();
    if (status === 404) await showPeople();
    endRow(row, told, status);
  };
  row.append(makeButton("End", end, `End: ${title}`));
  return row;
}

// In the words of the file of rights.
function showRights(user) {
  return showTold("rights", user, "Rights", "", ({ path, may, line }) =>
    make("li", {}, isolated(path), detail(`${may} (${line ? `line ${line}` : "no line"})`)));
}

if (people) {
  onSubmit(document.querySelector("[data-add]"), addPerson);
  more.onclick = showMore;
  showPeople();
}
