// Uploads: a queue, two under way at a time, and a line for each that is under way or has failed.

const AT_ONCE = 2;
const waiting = [];
const underWay = new Set();
const failures = new Set();
const folders = new Map(); // path: the promise of the status of its MKCOL, in this run of the queue
const summary = make("p");
const lines = make("ul");
const cancelAll = makeButton("Cancel all", () => {
  counts.all -= waiting.splice(0).length;
  isPaused = false;
  for (const upload of underWay) upload.cancel();
  if (showSummary()) endRun();
});
const retryAll = makeButton("Retry all", () => retry([...failures]));
const panel = make("section", { className: "uploads", "aria-label": "Uploads", hidden: true },
  make("div", { className: "summary" }, summary, retryAll, cancelAll), lines);
let counts = { all: 0, done: 0 }; // those that have failed are not among them
let isPaused = false;
let lastQuestion = Promise.resolve(null); // "Replace" or "Skip" when that holds for all that follow

function sizeText(bytes) {
  const units = ["B", "KiB", "MiB", "GiB", "TiB"];
  let unit = 0;
  for (; bytes >= 1023.5 && unit + 1 < units.length; ++unit) bytes /= 1024;
  return `${bytes.toFixed(unit > 0 && bytes < 9.95 ? 1 : 0)} ${units[unit]}`;
}

// What one upload shows: its name, how far it is and how fast, and a button.
class Line {
  constructor(upload) {
    const { path } = upload;
    this.bar = make("progress", { max: 1, value: 0, "aria-label": `Upload of ${path}` });
    this.text = detail();
    this.button = makeButton("Cancel", () => upload.cancel(), `Cancel ${path}`);
    this.element = make("li", {}, isolated(path), this.bar, this.text, this.button);
    this.samples = [];
    lines.append(this.element);
  }

  // The speed is that of the last three seconds.
  progress(sent, size) {
    const now = performance.now();
    if (this.samples.length && now - this.samples.at(-1).now < 250 && sent < size) return;
    this.samples.push({ now, sent });
    while (this.samples.length > 2 && now - this.samples[0].now > 3000) this.samples.shift();
    const first = this.samples[0];
    const speed = now > first.now ? (1000 * (sent - first.sent)) / (now - first.now) : 0;
    this.bar.value = size ? sent / size : 1;
    this.text.textContent = `${sizeText(sent)} of ${sizeText(size)}` +
      (speed ? `, ${sizeText(speed)}/s` : "");
  }

  wait() {
    this.text.textContent = "The connection broke. Trying again…";
  }

  fail(words, upload) {
    this.bar.remove();
    this.text.textContent = words;
    this.element.className = "bad";
    this.button.replaceWith(
      makeButton("Retry", () => retry([upload]), `Retry ${upload.path}`),
      makeButton("Dismiss", () => forget([upload]), `Dismiss ${upload.path}`));
  }
}

// One file, or one folder that may be empty. `open` gives the File when its turn has come.
class Upload {
  constructor(path, open) {
    this.path = path;
    this.open = open;
  }

  cancel() {
    this.isCancelled = true;
    this.request?.abort();
  }

  async run() {
    this.isCancelled = false;
    this.line = new Line(this);
    const status = await this.store();
    if (isDone(status)) ++counts.done;
    else --counts.all;
    if (isDone(status) || status === CANCELLED || status === SKIPPED) {
      this.line.element.remove();
    } else {
      this.fail(status);
    }
  }

  // What would make all others fail too lets them wait, until somebody retries.
  fail(status) {
    failures.add(this);
    if (HOLD_UP_ALL.includes(status)) isPaused = waiting.length > 0;
    this.line.fail(wordsOf(status, true), this);
    say([isolated(this.path), `: ${wordsOf(status, true)}`], true);
  }

  async store() {
    const parts = this.path.split("/");
    if (!parts.every(isName)) return 404; // the server would say so, after the whole body
    const above = this.open ? parts.slice(0, -1) : parts;
    for (let depth = 1; depth <= above.length; ++depth) {
      const status = await makeOnce(above.slice(0, depth).join("/"));
      if (!isDone(status)) return status;
    }
    return this.open ? this.put() : 201;
  }

  // Nothing is replaced unasked, even what somebody else stores meanwhile.
  async put() {
    const file = await Promise.resolve(this.open()).catch(() => null);
    if (!file) return UNREADABLE;
    let status = rowOf(this.path) ? 412 : await this.send(file, { "If-None-Match": "*" });
    if (status === 412 && !this.isCancelled) {
      if (!(await mayReplace(this.path))) return SKIPPED;
      status = await this.send(file, {});
    }
    return status === NO_ANSWER && !(await isReadable(file)) ? UNREADABLE : status;
  }

  send(file, fields) {
    if (this.isCancelled) return CANCELLED;
    this.line.progress(0, file.size);
    // An empty type would be replaced by one that depends on the browser.
    fields = { "Content-Type": "application/octet-stream", ...timeOf(file), ...fields };
    if (file.size > PART_BYTES) return sendInParts(this, file, fields);
    return send("PUT", addressOf(this.path), {
      fields,
      body: file,
      progress: (sent) => this.line.progress(sent, file.size),
      begun: (request) => { this.request = request; },
    });
  }
}

// The server takes no time of the first day of 1970, which is what an unknown one is.
function timeOf(file) {
  const second = Math.floor(file.lastModified / 1000);
  return second > 86400 ? { "X-OC-Mtime": second } : {};
}

function isReadable(file) {
  return file.slice(0, 1).arrayBuffer().then(() => true, () => false);
}

// A folder that is there already is as good as a new one.
function makeOnce(path) {
  if (!folders.has(path)) {
    const made = send("MKCOL", `${addressOf(path)}/`).then((status) => {
      if (status === 405) return 200;
      if (!isDone(status)) folders.delete(path);
      return status;
    });
    folders.set(path, made);
  }
  return folders.get(path);
}

// One question at a time. The answer may hold for all that follow in this run of the queue.
async function mayReplace(path) {
  const asked = lastQuestion.then(async (kept) => {
    if (kept) return { kept, isYes: kept === "Replace" };
    const { answer, isTicked } = await question({
      title: "Replace ", name: path, text: "There is a file of this name already.",
      box: "The same for all others", answers: ["Replace", "Skip"],
    });
    return { kept: isTicked ? (answer ?? "Skip") : null, isYes: answer === "Replace" };
  });
  lastQuestion = asked.then((told) => told.kept);
  return (await asked).isYes;
}

function showSummary() {
  const isOver = waiting.length + underWay.size === 0;
  const texts = counts.all ? [`${counts.done} of ${counts.all} uploaded`] : [];
  if (failures.size) texts.push(`${failures.size} failed`);
  if (isPaused) texts.push(`${waiting.length} wait until you retry`);
  summary.textContent = texts.join(", ");
  retryAll.hidden = failures.size === 0;
  cancelAll.hidden = isOver;
  panel.hidden = isOver && failures.size === 0;
  return isOver;
}

async function takeNext() {
  const upload = waiting.shift();
  underWay.add(upload);
  showSummary();
  await upload.run();
  underWay.delete(upload);
  if (showSummary()) return endRun();
  startMore();
}

function startMore() {
  while (!isPaused && waiting.length && underWay.size < AT_ONCE) takeNext();
}

// If nothing was stored there is nothing new to list. A browser that is signed out would ask again.
async function endRun() {
  const { done } = counts;
  const isOld = done > 0 || folders.size > 0 || failures.size === 0;
  counts = { all: 0, done: 0 };
  folders.clear();
  lastQuestion = Promise.resolve(null);
  if (isOld) await refresh();
  if (failures.size) say(`${done} uploaded, ${failures.size} failed.`, true);
  else say(done ? `${done} uploaded.` : "Nothing was uploaded.");
}

function enqueue(uploads) {
  if (uploads.length === 0) return;
  say("");
  counts.all += uploads.length;
  for (const upload of uploads) waiting.push(upload);
  showSummary();
  startMore();
}

function takeOut(uploads) {
  for (const upload of uploads) {
    failures.delete(upload);
    upload.line.element.remove();
  }
}

// The keyboard was on a button that is gone.
function focusPanel() {
  const place = [cancelAll, retryAll].find((button) => !button.hidden);
  (panel.hidden || !place ? search : place).focus();
}

function forget(uploads) {
  takeOut(uploads);
  uploads.forEach(leaveParts);
  showSummary();
  focusPanel();
}

function retry(uploads) {
  takeOut(uploads);
  isPaused = false;
  enqueue(uploads);
  focusPanel();
}

addEventListener("beforeunload", (event) => {
  if (waiting.length + underWay.size > 0) event.preventDefault();
});
