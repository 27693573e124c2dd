// The page on which a link lets somebody choose a password.

const invitation = document.querySelector("form[data-invitation]");

const INVITATION_WORDS = {
  401: "This link has ended, or was used already. Ask for another one.",
  422: "A password has at most 128 bytes.",
};

// Whether somebody has typed the same new password twice.
function isRepeated({ password, again }) {
  if (password.value === again.value) return true;
  say("The two passwords differ.", true);
  return false;
}

// The token stands behind "#" in the address, which the browser sends to nobody.
function startInvitation() {
  invitation.append(statusLine);
  onSubmit(invitation, async (fields) => {
    if (!isRepeated(fields)) return;
    say("…");
    const content = { token: location.hash.slice(1), new: fields.password.value };
    const { status } = await ask("/-/invitation", content);
    if (isDone(status)) return location.replace("/");
    say(INVITATION_WORDS[status] ?? wordsOf(status), true);
  });
}

if (invitation) startInvitation();
