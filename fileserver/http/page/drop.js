// The page of a link by which guests put files into a folder.

const drop = document.querySelector("form[data-drop]");

const DROP_WORDS = {
  401: "The password of the link is missing. Reload the page.",
  403: "The server takes no files here.",
  404: "This link has ended, or the server does not take this name.",
};

// One after the other, so that whoever sends many sees how far they are.
async function sendFiles() {
  const { files } = drop.elements.files;
  const button = drop.querySelector("button");
  let sent = 0;
  button.disabled = true;
  for (const file of files) {
    say(["Sending ", isolated(file.name), ` (${sent + 1} of ${files.length})…`]);
    const fields = { "Content-Type": "application/octet-stream" };
    const status = await send("PUT", addressOf(file.name), { fields, body: file });
    if (!isDone(status)) {
      say([isolated(file.name), `: ${DROP_WORDS[status] ?? wordsOf(status, true)}`], true);
      break;
    }
    ++sent;
  }
  button.disabled = false;
  if (sent === files.length) {
    say(sent === 1 ? "The file is sent." : `${sent} files are sent.`);
    drop.reset();
  }
}

if (drop) {
  drop.append(statusLine);
  drop.onsubmit = (event) => {
    event.preventDefault();
    sendFiles();
  };
}
