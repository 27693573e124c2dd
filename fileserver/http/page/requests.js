// What the server is asked, and what its answers say in words.

const FOLDER = location.pathname; // of this page; it ends with a slash, and is percent-encoded
const NO_ANSWER = 0;
const CANCELLED = -1;
const SKIPPED = -2;
const UNREADABLE = -3;

const HOLD_UP_ALL = [NO_ANSWER, 401, 429, 503, 507]; // all that follows would be answered so too

// The address of a path below this folder. A slash at the end of the path stays.
function addressOf(path) {
  return FOLDER + path.split("/").map(encodeURIComponent).join("/");
}

// Sends a request, and returns its status: NO_ANSWER when the connection was lost, CANCELLED when
// `begun` has got the request and it was aborted. The body is a File, which the browser reads piece
// by piece while it is sent.
function send(method, address, { fields = {}, body = null, progress, begun } = {}) {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open(method, address);
    request.setRequestHeader("Accept", "text/html"); // so that no dialogue asks for a password
    for (const [name, value] of Object.entries(fields)) request.setRequestHeader(name, value);
    if (progress) request.upload.onprogress = (event) => progress(event.loaded);
    request.onload = () => resolve(request.status);
    request.onerror = () => resolve(NO_ANSWER);
    request.onabort = () => resolve(CANCELLED);
    begun?.(request);
    request.send(body);
  });
}

// Asks for JSON, by a POST if there is content. Returns the status and what was told, if anything.
// Without its origin an address gets the password that may be in that of the page, and is refused.
async function ask(address, content) {
  const answer = await fetch(location.origin + address, {
    headers: { Accept: "text/html" }, // as above
    ...(content && { method: "POST", body: JSON.stringify(content) }),
  }).catch(() => null);
  const told = await answer?.json().catch(() => null);
  return { status: answer?.status ?? NO_ANSWER, told: isDone(answer?.status) ? told : null };
}

// The listing as it is now; null if the server does not give it.
function newListing() {
  return new Promise((resolve) => {
    const request = new XMLHttpRequest();
    request.open("GET", FOLDER);
    request.setRequestHeader("Accept", "text/html");
    request.responseType = "document";
    request.onloadend = () => resolve(request.status === 200 ? request.response : null);
    request.send();
  });
}

function isDone(status) {
  return status >= 200 && status < 300;
}

// A time of the server, by the clock of the reader.
function timeText(seconds) {
  return new Date(1000 * seconds).toLocaleString([], { dateStyle: "short", timeStyle: "short" });
}

// What a link for guests leads to, and what it lets them do.
function targetOf({ path }) {
  return `/${path === "/" ? "" : path}`;
}

function wordsOfLink({ may, uses, end, password }) {
  const texts = [may === "drop" ? "guests put files into it" : "guests read it"];
  if (password) texts.push("with a password");
  if (uses !== null) texts.push(`${uses} ${uses === 1 ? "use" : "uses"} left`);
  if (end !== null) texts.push(`until ${new Date(1000 * end).toLocaleDateString()}`);
  return texts.join(", ");
}

// What a person can do about a status that is no success. `isNew`: it is of a name that is to be.
function wordsOf(status, isNew = false) {
  switch (status) {
    case NO_ANSWER: return "The server does not answer. Check your network, or try again later.";
    case UNREADABLE: return "The browser cannot read this file any more. Choose it again.";
    case 401: return "You are not signed in any more. Reload the page to sign in.";
    case 403: return "Your account may not change this.";
    case 404: return isNew ? "The server does not take this name." : "It is not there any more.";
    case 405: return "The server does not do this here.";
    case 409: return "The folder is gone, or a folder has this name.";
    case 412: return "There is something of this name already.";
    case 413: return "The file is larger than the server takes.";
    case 414:
    case 431: return "The names of the folder and of this together are too long.";
    case 423: return "Somebody has locked this. Try again later.";
    case 429: return "Too many wrong passwords came from your address. Wait for a minute.";
    case 503:
      return "The server cannot check passwords now, or is too busy. Try again in a moment.";
    case 507: return "The disk of the server is full.";
    default: return `The server has failed (${status}).`;
  }
}
