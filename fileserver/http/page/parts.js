// Large files go in parts, so that they pass a proxy with a limit and go on after a break.

const PART_BYTES = 32 * 2 ** 20;
const PAUSES_MS = [500, 1000, 2000, 4000, 8000]; // before it is asked again how much has come
const BREAKS = [NO_ANSWER, 423, 502, 503, 504];

// As send(), and returns the fields of the answer too.
async function sendPart(upload, method, address, options) {
  let asked = null;
  const begun = (request) => { asked = upload.request = request; };
  const status = await send(method, address, { ...options, begun });
  return { status, told: (name) => asked.getResponseHeader(name) };
}

// Tells the server that nobody goes on with it.
function leaveParts(upload) {
  if (upload.place) send("DELETE", upload.place);
  upload.place = null;
}

// The address at which the parts come together, on this server.
async function beginParts(upload, file, fields) {
  const { status, told } = await sendPart(upload, "POST", `/-/parts${addressOf(upload.path)}`, {
    fields: { ...fields, "Upload-Complete": "?0", "Upload-Length": file.size },
  });
  if (status === 201) upload.place = new URL(told("Location"), location.href).pathname;
  return status;
}

// How much has come, and whether it is all and has its name.
async function askForOffset(upload) {
  const { status, told } = await sendPart(upload, "HEAD", upload.place, {});
  if (!isDone(status)) return { status };
  return { status, offset: Number(told("Upload-Offset")), isOver: told("Upload-Complete") === "?1" };
}

// Sends what comes behind the offset. Where another one is right, the status is a break.
async function sendFrom(upload, file, offset) {
  const end = Math.min(offset + PART_BYTES, file.size);
  const { status, told } = await sendPart(upload, "PATCH", upload.place, {
    fields: {
      "Content-Type": "application/partial-upload", "Upload-Offset": offset,
      "Upload-Complete": end === file.size ? "?1" : "?0",
    },
    body: file.slice(offset, end),
    progress: (sent) => upload.line.progress(offset + sent, file.size),
  });
  const isOther = status === 409 && told("Upload-Offset") !== null;
  return { status: isOther ? NO_ANSWER : status, offset: end, isOver: end === file.size };
}

// As Upload.send(). After a break it goes on from what has come, also when somebody retries later.
async function sendInParts(upload, file, fields) {
  if (upload.place && (await askForOffset(upload)).status === 404) upload.place = null;
  if (!upload.place) {
    const status = await beginParts(upload, file, fields);
    if (status !== 201) return status;
  }
  let offset = null; // the server has to be asked
  let most = -1;
  for (let tries = 0; ;) {
    const told = await (offset === null ? askForOffset(upload) : sendFrom(upload, file, offset));
    if (upload.isCancelled || [400, 404, 412].includes(told.status)) leaveParts(upload);
    if (upload.isCancelled) return CANCELLED;
    if (isDone(told.status) && told.isOver) upload.place = null;
    if (!upload.place) return told.status;
    if (isDone(told.status)) {
      if (told.offset > most) tries = 0;
      most = Math.max(most, told.offset);
      ({ offset } = told);
      continue;
    }
    offset = null;
    if (!BREAKS.includes(told.status) || tries === PAUSES_MS.length) return told.status;
    if (!(await isReadable(file))) return UNREADABLE;
    upload.line.wait();
    await new Promise((resolve) => { setTimeout(resolve, PAUSES_MS[tries]); });
    ++tries;
  }
}
