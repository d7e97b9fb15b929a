// The sum behind a number, step by step; the keys j and k between queries; buttons that copy.
// All words and numbers come from the server: here they are only shown in turn.
import { announce } from "./swap.js";

const PAUSE = 1100; // milliseconds between two steps

class Walk {
  constructor(panel) {
    this.panel = panel;
    const list = panel.querySelector("[data-frames]");
    this.names = (list.dataset.names || "").split("\n");
    this.frames = [...list.children];
    this.rows = [...panel.querySelectorAll("tr[data-rank]")];
    this.place = panel.querySelector("[data-walk]");
    this.caption = panel.querySelector("[data-caption]");
    this.readings = panel.querySelector("[data-readings]");
    this.play = panel.querySelector("[data-step='play']");
    this.last = this.frames.length - 1;
    this.at = this.last;
    this.timer = null;
  }

  show(wanted) {
    this.at = Math.max(0, Math.min(this.last, wanted));
    const frame = this.frames[this.at];
    const rank = Number(frame.dataset.rank);
    const finished = frame.dataset.finished !== undefined;
    this.place.hidden = false;
    this.caption.textContent = frame.textContent;
    const texts = frame.dataset.readings.split("\n");
    const shown = this.names.map((name, at) => [name, texts[at]]).filter(([, text]) => text);
    if (frame.dataset.score) shown.push(["so far", frame.dataset.score]);
    this.readings.replaceChildren(
      ...shown.map(([name, text]) => {
        const group = document.createElement("div");
        const term = document.createElement("dt");
        const value = document.createElement("dd");
        term.textContent = name;
        value.textContent = text;
        group.append(term, value);
        return group;
      }),
    );
    for (const row of this.rows) {
      const own = Number(row.dataset.rank);
      row.classList.toggle("later", !finished && own > rank);
      row.classList.toggle("now", !finished && own === rank);
    }
  }

  pause() {
    clearTimeout(this.timer);
    this.timer = null;
    this.play.textContent = "▶ Step through";
    this.caption.setAttribute("aria-live", "polite");
  }

  tick() {
    if (!this.panel.isConnected) return;
    if (this.at >= this.last) {
      this.pause();
      return;
    }
    this.show(this.at + 1);
    this.timer = setTimeout(() => this.tick(), PAUSE);
  }

  toggle() {
    if (this.timer !== null) {
      this.pause();
      return;
    }
    if (this.at >= this.last) this.show(0);
    this.play.textContent = "Pause";
    this.caption.setAttribute("aria-live", "off");
    this.timer = setTimeout(() => this.tick(), PAUSE);
  }

  go(to) {
    this.pause();
    this.show(to);
  }

  step(name) {
    if (name === "play") this.toggle();
    else this.go(this.at + (name === "back" ? -1 : 1));
  }
}

const walks = new WeakMap(); // panel -> Walk

const walkOf = (element) => walks.get(element?.closest?.("[data-sum]"));

async function copy(button) {
  const text = document.getElementById(button.dataset.copy)?.textContent ?? "";
  const words = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
    announce("Copied.");
  } catch {
    const pre = document.getElementById(button.dataset.copy);
    const fold = pre?.closest("details");
    if (fold) {
      fold.classList.remove("without-scripts");
      fold.open = true;
    }
    button.textContent = "Copy it from below";
  }
  setTimeout(() => {
    button.textContent = words;
  }, 2000);
}

const typing = (target) =>
  target instanceof Element && target.closest("input, textarea, select, [contenteditable]");

let watching = false;

function watch() {
  if (watching) return;
  watching = true;
  document.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const step = target?.closest("[data-step]");
    if (step) walkOf(step)?.step(step.dataset.step);
    const button = target?.closest("button[data-copy]");
    if (button) copy(button);
  });
  document.addEventListener("keydown", (event) => {
    if (event.ctrlKey || event.metaKey || event.altKey || typing(event.target)) return;
    if (event.key === "j" || event.key === "k") {
      const link = document.querySelector(`a[data-key="${event.key}"]`);
      if (!link) return;
      event.preventDefault();
      link.click();
      return;
    }
    const walk = walkOf(event.target);
    if (!walk) return;
    const moves = { ArrowRight: walk.at + 1, ArrowLeft: walk.at - 1, Home: 0, End: walk.last };
    if (!Object.hasOwn(moves, event.key)) return;
    event.preventDefault();
    walk.go(moves[event.key]);
  });
}

/** What a link points at below the page comes into sight after a swap, too. */
function pointed(root) {
  const target = location.hash.length > 1 && document.getElementById(location.hash.slice(1));
  if (target && root !== document && root.contains(target)) {
    target.scrollIntoView({ block: "nearest" });
  }
}

export function start(root) {
  watch();
  pointed(root);
  for (const panel of root.querySelectorAll("[data-sum]")) {
    if (panel.querySelector("[data-frames]") && panel.querySelector("[data-step]")) {
      walks.set(panel, new Walk(panel));
    }
  }
}
