// Where uploads come from: files and folders that are chosen, and those that are dropped.

function chosen(input) {
  const uploads = [...input.files].map(
    (file) => new Upload(file.webkitRelativePath || file.name, () => file));
  input.value = ""; // so that the same file can be chosen again
  enqueue(uploads);
}

function makeInput(values) {
  const input = make("input", { type: "file", multiple: true, hidden: true, ...values });
  input.onchange = () => chosen(input);
  return input;
}

function batchOf(reader) {
  return new Promise((resolve, reject) => reader.readEntries(resolve, reject));
}

// All that is below an entry that was dropped, the entry itself too.
async function* below(entry, above) {
  const path = above + entry.name;
  if (entry.isFile) {
    yield new Upload(path, () => new Promise((resolve, reject) => entry.file(resolve, reject)));
    return;
  }
  yield new Upload(path, null);
  const reader = entry.createReader();
  for (let batch = await batchOf(reader); batch.length; batch = await batchOf(reader)) {
    for (const one of batch) yield* below(one, `${path}/`);
  }
}

// The entries have to be taken before anything is waited for: then they are gone.
async function drop(transfer) {
  const items = [...transfer.items].filter((item) => item.kind === "file");
  const entries = items.map((item) => item.webkitGetAsEntry()).filter(Boolean);
  const uploads = [];
  try {
    for (const entry of entries) {
      for await (const upload of below(entry, "")) uploads.push(upload);
    }
  } catch {
    return say("The browser cannot read what was dropped. Nothing is uploaded.", true);
  }
  enqueue(uploads);
}

function hasFiles(event) {
  return event.dataTransfer?.types.includes("Files");
}

// Where nothing may be changed, a browser would open the dropped file in place of this page.
function startDrops() {
  const mark = (is) => document.body.classList.toggle("over", is);
  addEventListener("dragover", (event) => {
    if (!hasFiles(event)) return;
    event.preventDefault();
    event.dataTransfer.dropEffect = "copy";
    mark(isWritable);
  });
  addEventListener("dragleave", (event) => {
    if (!event.relatedTarget) mark(false);
  });
  addEventListener("drop", (event) => {
    mark(false);
    if (!hasFiles(event)) return;
    event.preventDefault();
    if (isWritable) drop(event.dataTransfer);
    else say(READ_ONLY, true);
  });
}

function sourceButtons() {
  const files = makeInput({});
  const folder = makeInput({ webkitdirectory: true });
  const folderButton = makeButton("Upload folder", () => folder.click());
  folderButton.className = "folder";
  return [makeButton("Upload files", () => files.click()), folderButton,
    makeButton("New folder", makeFolder), files, folder];
}
