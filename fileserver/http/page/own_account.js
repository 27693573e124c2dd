// The page of the own account: its password, and application passwords.

const accountPage = document.querySelector("main.account"); // of the own one, or of all people
const apps = document.querySelector("[data-apps]");
const PASSWORD_WORDS = {
  401: "The old password is wrong.",
  422: "A password has 1 to 128 bytes, and no control characters.",
};
const APP_WORDS = {
  409: "You have as many as there may be. Revoke one of them first.",
  422: "A name has 1 to 64 bytes.",
};

function ownName() {
  return document.querySelector(".who bdi").textContent;
}

// Whose session or account has ended gets the page to sign in, in place of this one.
async function sayRefusal(status, words = {}) {
  if (status === 401 && !(await isSignedIn())) return location.reload();
  say(words[status] ?? wordsOf(status), true);
}

async function changePassword(fields) {
  if (!isRepeated(fields)) return;
  say("…");
  const content = { old: fields.old.value, new: fields.password.value };
  const { status } = await ask("/-/password", content);
  if (!isDone(status)) {
    fields.old.select();
    return sayRefusal(status, PASSWORD_WORDS);
  }
  document.querySelector(".who").remove();
  const link = make("a", { href: "/" }, "Sign in");
  accountPage.replaceChildren(statusLine, make("p", {}, link));
  say("Your password is changed, and all your sessions have ended.");
  link.focus();
}

// The server keeps the hour of the last use, and that in which it was made counts as one.
function usesText({ made, used }) {
  return `made ${timeText(made)}, ` +
    (used > made ? `last used ${timeText(used)}` : "not used since that hour");
}

function appRow({ id, name, ...times }) {
  const row = make("li", {}, isolated(name), detail(usesText(times)));
  const revoke = async () => {
    say("");
    const { answer } = await question({
      title: "Revoke ", name, text: "What signs in with this password cannot do so any more.",
      answers: ["Revoke", "Cancel"], focused: "Cancel",
    });
    if (answer !== "Revoke") return;
    const status = await send("DELETE", `/-/apps/${id}`);
    if (!isDone(status) && status !== 404) return sayRefusal(status);
    takeRow(row);
    say([isolated(name), " is revoked."]);
  };
  row.append(makeButton("Revoke…", revoke, `Revoke ${name}`));
  return row;
}

async function showApps() {
  const { status, told } = await ask("/-/apps");
  if (!told) return sayRefusal(status);
  apps.replaceChildren(...told.map(appRow));
}

async function makeApp({ name }) {
  say("");
  const { status, told } = await ask("/-/apps", { name: name.value });
  if (!told) return sayRefusal(status, APP_WORDS);
  name.value = "";
  await showApps();
  showOnce(`Password of ${told.name}`, "It is shown once. Give it to the program, with your user " +
    `name: curl -u ${ownName()} ${location.origin}/ asks for it.`, "Password", told.password);
}

function startAccount() {
  onSubmit(document.querySelector("[data-password]"), changePassword);
  onSubmit(document.querySelector("[data-app]"), makeApp);
  showApps();
}

if (accountPage) {
  accountPage.prepend(statusLine);
  startSignOut();
}
if (apps) startAccount();
