// Signing in and out. The cookie of a session is one that no script reads.

const signIn = document.querySelector("form.log-in");

// A browser does not send the cookie with the first request that a page of another site leads to.
async function isSignedIn() {
  return isDone((await ask("/-/whoami")).status);
}

// An address with a fragment would only be scrolled to.
function askAgain() {
  location.replace(location.href.replace(/#.*/s, ""));
}

function startSignIn() {
  const { user, password, stay } = signIn.elements;
  signIn.append(statusLine);
  user.autocapitalize = "none"; // on a phone
  onSubmit(signIn, async () => {
    const content = { user: user.value, password: password.value, stay: stay.checked };
    say("…");
    const { status } = await ask("/-/session", content);
    if (isDone(status)) return askAgain();
    say(status === 401 ? "The user name or the password is wrong." : wordsOf(status), true);
    password.select();
  });
  isSignedIn().then((is) => {
    if (is && !document.referrer.startsWith(location.origin)) askAgain();
  });
}

async function signOut() {
  const status = await send("DELETE", "/-/session");
  if (isDone(status) || status === 401) askAgain();
  else say(wordsOf(status), true);
}

function startSignOut() {
  const who = document.querySelector(".who[data-session]");
  who?.append(" ", makeButton("Sign out", signOut));
}

// A page that a browser has kept is of somebody who may have signed out since.
addEventListener("pageshow", (event) => {
  if (event.persisted) location.reload();
});
