// The pages of accounts: choosing a password by a link.

const invitation = document.querySelector("form[data-invitation]");

const INVITATION_WORDS = {
  401: "This link has ended, or was used already. Ask for another one.",
  422: "A password has at most 128 bytes.",
};

// The token stands behind "#" in the address, which the browser sends to nobody.
function startInvitation() {
  const { password, again } = invitation.elements;
  invitation.append(statusLine);
  invitation.onsubmit = async (event) => {
    event.preventDefault();
    if (password.value !== again.value) return say("The two passwords differ.", true);
    say("…");
    const body = JSON.stringify({ token: location.hash.slice(1), new: password.value });
    const status = await send("POST", "/-/invitation", { body });
    if (isDone(status)) return location.replace("/");
    say(INVITATION_WORDS[status] ?? wordsOf(status), true);
  };
}

if (invitation) startInvitation();
