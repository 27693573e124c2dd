// Making elements, and the one dialogue.

// An element with attributes and properties. A child is an element or a text.
function make(kind, values = {}, ...children) {
  const element = document.createElement(kind);
  for (const [name, value] of Object.entries(values)) {
    if (name in element) element[name] = value;
    else element.setAttribute(name, value);
  }
  element.append(...children);
  return element;
}

function detail(...children) {
  return make("span", { className: "detail" }, ...children);
}

function makeButton(text, onclick, label) {
  const button = make("button", { type: "button", onclick }, text);
  if (label) button.setAttribute("aria-label", label);
  return button;
}

// Asks a question. The first of the answers is what the Enter key gives, unless the keyboard is on
// another one, as it is at first with `focused`. Returns the answer that was pressed, null for the
// Escape key, and what stands in the field and in the box. `field` is a label, a text to begin
// with, and how many of its letters are selected, if not all. The keyboard stays in the dialogue, and goes back where it was.
function question({ title, name = "", text = "", field, box, answers, focused }) {
  const heading = make("h2", {}, title, name && isolated(name));
  const input = make("input", { type: "text", value: field?.[1] ?? "", autocomplete: "off" });
  const tick = make("input", { type: "checkbox" });
  const form = make("form", {}, heading);
  const dialog = make("dialog", { "aria-label": title + name }, form);
  if (text) form.append(make("p", {}, text));
  if (field) form.append(make("label", { className: "field" }, field[0], input));
  if (box) form.append(make("label", { className: "box" }, tick, box));
  return new Promise((resolve) => {
    const end = (answer) => {
      dialog.close();
      dialog.remove();
      resolve({ answer, text: input.value, isTicked: tick.checked });
    };
    const buttons = answers.map((answer) => makeButton(answer, () => end(answer)));
    form.append(make("div", { className: "answers" }, ...buttons));
    form.onsubmit = (event) => {
      event.preventDefault();
      end(answers[0]);
    };
    buttons[0].type = "submit";
    buttons[0].onclick = null;
    dialog.oncancel = (event) => {
      event.preventDefault();
      end(null);
    };
    showModal(dialog);
    if (field) input.setSelectionRange(0, field[2] ?? field[1].length);
    buttons[answers.indexOf(focused)]?.focus();
  });
}

function showModal(dialog) {
  dialog.onclose = () => dialog.remove();
  document.body.append(dialog);
  dialog.showModal();
  return dialog;
}

// A dialogue that is closed by its last button, and by the Escape key.
function openDialog(title, ...children) {
  const close = makeButton("Close", () => dialog.close());
  const dialog = make("dialog", { className: "wide", "aria-label": title },
    make("h2", {}, title), ...children, make("div", { className: "answers" }, close));
  return showModal(dialog);
}

// Shows an address or a password that the server tells once. The clipboard of `navigator` is for
// pages with encryption only.
function showOnce(title, words, label, secret) {
  const input = make("input", { type: "text", readOnly: true, value: secret });
  const told = make("span", { role: "status" });
  const copy = makeButton("Copy", () => {
    input.select();
    told.textContent = document.execCommand("copy") ? " Copied." : " Copy what is selected.";
  });
  openDialog(title, make("p", {}, words), make("label", { className: "field" }, label, input),
    make("p", {}, copy, told));
  input.select();
}

// Takes a row out of its list. The keyboard goes on from the next one.
function takeRow(row) {
  const next = row.nextElementSibling ?? row.previousElementSibling ?? row.parentElement.parentElement;
  row.remove();
  next.querySelector("button").focus();
}

// The same if what the row is of has ended by this answer. If not, the row says why.
function endRow(row, told, status, words = wordsOf(status)) {
  if (!isDone(status) && status !== 404) {
    told.textContent = words;
    told.className = "bad";
    told.setAttribute("role", "alert");
    return false;
  }
  takeRow(row);
  return true;
}

// What a form does with its fields. A second press while that is under way does nothing.
function onSubmit(form, act) {
  let isUnderWay = false;
  form.onsubmit = (event) => {
    event.preventDefault();
    if (isUnderWay) return;
    isUnderWay = true;
    act(form.elements).finally(() => { isUnderWay = false; });
  };
}

// A name within a text. Letters that are written from right to left do not reorder what follows.
function isolated(name) {
  return make("bdi", {}, name);
}

const statusLine = make("p", { className: "status", role: "status" });

// Shows texts and isolated names in a row. A screen reader reads them out.
function say(parts, isBad = false) {
  statusLine.replaceChildren(...[parts].flat());
  statusLine.classList.toggle("bad", isBad);
}
