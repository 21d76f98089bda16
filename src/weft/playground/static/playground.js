// Sends the fields to the server while they change, and shows the parts of the page that it returns.
// All HTML comes from the server, which has escaped it.

const form = document.getElementById("state");
const tensors = document.getElementById("tensors");
const results = document.getElementById("results");
const TYPING_PAUSE = 250; // milliseconds

let timer = 0;
let shownTensors = null;
let latest = 0;
let pending = null;

document.documentElement.classList.add("scripted");
// Beside the results there is room for the list of examples; above them it is folded.
document.querySelector(".presets").open = window.matchMedia("(min-width: 60rem)").matches;

function query() {
  const fields = new URLSearchParams();
  for (const [name, value] of new FormData(form)) if (value) fields.append(name, value);
  return fields.toString();
}

const expression = document.getElementById("expression");

function fit() { // the field to a long expression
  expression.style.height = "auto";
  expression.style.height = `${expression.scrollHeight + expression.offsetHeight - expression.clientHeight}px`;
}
fit();

function show(trouble) {
  for (const box of document.querySelectorAll(".trouble")) {
    const own = trouble !== null && box.id === `trouble-${trouble.field}`;
    box.hidden = !own;
    const [reason, place] = box.children;
    reason.textContent = own ? trouble.reason : "";
    place.textContent = own ? trouble.place : "";
    place.hidden = !place.textContent;
  }
  for (const field of ["expression", "schedule"]) {
    document.getElementById(field).setAttribute("aria-invalid", String(trouble?.field === field));
  }
  results.classList.toggle("stale", trouble !== null);
}

function replaceTensors(html) {
  if (html === shownTensors) return;
  shownTensors = html;
  const focused = tensors.contains(document.activeElement) ? document.activeElement.id : "";
  tensors.innerHTML = html;
  if (focused) document.getElementById(focused)?.focus();
}

function replaceResults(html) {
  // Each stage stays scrolled and unfolded as it was.
  const places = new Map();
  for (const box of results.querySelectorAll("pre[id]")) places.set(box.id, box.scrollTop);
  const open = [...results.querySelectorAll("section:has(details[open])")].map((section) => section.id);
  results.innerHTML = html;
  for (const [id, top] of places) document.getElementById(id)?.scrollTo(0, top);
  for (const id of open) document.getElementById(id)?.querySelector("details")?.setAttribute("open", "");
}

async function update() {
  const asked = query();
  const number = ++latest;
  pending?.abort();
  pending = new AbortController();
  for (const link of document.querySelectorAll(".presets [aria-current]")) link.removeAttribute("aria-current");
  results.setAttribute("aria-busy", "true");
  try {
    const response = await fetch(`/generate?${asked}`, { signal: pending.signal });
    if (!response.ok) throw new Error(`the server answered ${response.status} ${response.statusText}`);
    const found = await response.json();
    if (number !== latest) return;
    if (found.parsed) replaceTensors(found.tensors);
    if (found.trouble === null) replaceResults(found.results);
    show(found.trouble);
    if (found.trouble === null) document.title = `${expression.value.trim()} · weft playground`;
    history.replaceState(null, "", `/?${query()}`); // with the formats of tensors that have just appeared
  } catch (error) {
    if (number !== latest) return;
    const lost = error instanceof TypeError ? "the server does not answer; is weft playground running?" : error.message;
    show({ field: "expression", reason: lost, place: "" });
  }
  if (number === latest) results.removeAttribute("aria-busy");
}

form.addEventListener("input", (event) => {
  if (event.target === expression) fit();
  if (event.target instanceof HTMLSelectElement) return; // the event "change" comes for every way to choose
  clearTimeout(timer);
  timer = setTimeout(update, TYPING_PAUSE);
});
form.addEventListener("change", (event) => {
  if (!(event.target instanceof HTMLSelectElement)) return;
  clearTimeout(timer);
  update();
});
form.addEventListener("submit", (event) => {
  event.preventDefault();
  update();
});

async function copy(button, text) {
  const label = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
  } catch {
    button.textContent = "Not allowed";
  }
  setTimeout(() => { button.textContent = label; }, 1500);
}

document.getElementById("link").addEventListener("click", (event) => {
  copy(event.currentTarget, `${location.origin}/?${query()}`);
});
document.addEventListener("click", (event) => {
  const button = event.target.closest("button[data-copies]");
  const source = button && document.getElementById(button.dataset.copies); // none beside an error
  if (source) copy(button, source.textContent);
});
