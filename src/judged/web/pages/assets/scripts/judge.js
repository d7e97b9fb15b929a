// Judging by keys: each is a press of a button on the page. What was judged is what the server says
// next; until then nothing is shown as saved, and further keys wait for the items that follow.
import { announce, Refused, refusal, refuse, SILENT, swap } from "./swap.js";

let busy = false;
let waiting = []; // keys that were pressed while the server kept the last one
let shown = 0; // milliseconds that the item was looked at before the page was last hidden
let since = null; // when looking began; null while the page is hidden

const desk = () => document.querySelector("form[data-judge]");
const seconds = () => (shown + (since === null ? 0 : performance.now() - since)) / 1000;

/** Send a form, and show what comes next; what is refused is said, and the item stays. */
async function send(form, button) {
  if (busy) return;
  busy = true;
  form.setAttribute("aria-busy", "true");
  const clock = form.querySelector("[data-seconds]");
  if (clock) clock.value = seconds().toFixed(1);
  try {
    const answer = await fetch(form.getAttribute("action"), {
      method: "POST",
      body: new URLSearchParams(new FormData(form, button)),
      headers: { Accept: "application/json" },
      credentials: "same-origin",
    });
    if (!answer.ok) throw await refusal(answer);
    const { next } = await answer.json();
    await swap(next, "main");
  } catch (error) {
    waiting = []; // they were meant for items that do not come
    refuse(error instanceof Refused ? error.message : SILENT);
  } finally {
    busy = false;
    form.removeAttribute("aria-busy");
    if (waiting.length) press(waiting.shift());
  }
}

const typing = (target) =>
  target instanceof Element && target.closest("input:not([type=hidden]), textarea, select");

function inNote(event) {
  const note = event.target.closest?.("form[data-judge] textarea");
  if (!note) return;
  if (event.key === "Enter" && !event.shiftKey && !event.isComposing) {
    event.preventDefault();
    note.form.querySelector('button[value="note"]').click();
    note.blur();
  } else if (event.key === "Escape") {
    note.blur();
  }
}

/** The key of a button, a link or something folded. */
function press(key) {
  const found = [...document.querySelectorAll("main [data-key]")].find(
    (each) => each.dataset.key === key && !each.disabled,
  );
  if (!found) return false;
  if (found.tagName !== "SUMMARY") {
    found.click();
    return true;
  }
  const fold = found.parentElement;
  const note = fold.querySelector("textarea");
  fold.open = note ? true : !fold.open;
  (note ?? found).focus();
  return true;
}

/** Whoever looks elsewhere would lose a note that is typed and not kept: that is said instead. */
function guardNote(event) {
  const way = event.target.closest?.("form[data-judge] a[data-key], form[data-judge] [value=undo]");
  const note = desk()?.querySelector("textarea");
  if (!way || !note || note.value === note.defaultValue) return;
  event.preventDefault();
  refuse("The note is not kept yet: give a grade, or press Enter in it, or empty it.");
  note.focus();
}

function listen() {
  document.addEventListener("click", guardNote, true);
  document.addEventListener("submit", (event) => {
    const form = event.target;
    const ours = form.dataset.judge !== undefined || form.dataset.settle !== undefined;
    if (!ours || event.defaultPrevented) return;
    event.preventDefault();
    send(form, event.submitter);
  });
  document.addEventListener("keydown", (event) => {
    if (!desk() || event.ctrlKey || event.metaKey || event.altKey) return;
    if (typing(event.target)) {
      inNote(event);
      return;
    }
    if (event.repeat) return;
    if (busy) {
      if (/^[0-9su]$/.test(event.key)) waiting.push(event.key);
      return;
    }
    if (press(event.key)) event.preventDefault();
    else if (/^[0-9]$/.test(event.key)) announce(`There is no grade ${event.key} here.`);
  });
  document.addEventListener("visibilitychange", () => {
    if (document.hidden) {
      shown = seconds() * 1000;
      since = null;
    } else {
      since = performance.now();
    }
  });
  setInterval(() => {
    const clock = document.querySelector("[data-clock]");
    if (!clock || since === null) return;
    const whole = Math.floor(seconds());
    clock.textContent = `${Math.floor(whole / 60)}:${String(whole % 60).padStart(2, "0")}`;
  }, 500);
}

let listening = false;

export function start(root) {
  if (!listening) listen();
  listening = true;
  if (root.querySelector("form[data-judge]")) {
    shown = 0;
    since = document.hidden ? null : performance.now();
    // In a list of choices, digits would choose there.
    if (document.activeElement?.closest(".order")) document.getElementById("main").focus();
  }
  for (const each of root.querySelectorAll("time[data-local]")) {
    const hours = { hour: "2-digit", minute: "2-digit" };
    each.textContent = new Date(each.dateTime).toLocaleTimeString([], hours);
  }
}
