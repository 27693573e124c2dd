// Signing in and out. The cookie of a session is one that no script reads.

const signIn = document.querySelector("form.log-in");

// A browser does not send the cookie with the first request that a page of another site leads to.
async function isSignedIn() {
  const answer = await fetch("/-/whoami", { headers: { Accept: "text/html" } }).catch(() => null);
  return answer?.ok === true;
}

function startSignIn() {
  const { user, password, stay } = signIn.elements;
  signIn.append(statusLine);
  user.autocapitalize = "none"; // on a phone
  signIn.onsubmit = async (event) => {
    event.preventDefault();
    const body = JSON.stringify({ user: user.value, password: password.value, stay: stay.checked });
    say("…");
    const status = await send("POST", "/-/session", { body });
    if (isDone(status)) return location.replace(location.href);
    say(status === 401 ? "The user name or the password is wrong." : wordsOf(status), true);
    password.select();
  };
  isSignedIn().then((is) => {
    if (is && !document.referrer.startsWith(location.origin)) location.replace(location.href);
  });
}

async function signOut() {
  const status = await send("DELETE", "/-/session");
  if (isDone(status) || status === 401) location.replace(location.href);
  else say(wordsOf(status), true);
}

function startSignOut() {
  const who = document.querySelector(".who[data-session]");
  who?.append(" ", makeButton("Sign out", signOut));
}
