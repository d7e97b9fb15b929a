// The entry: every module prepares what is on the page, and again what a swap brings.
import { start as swap } from "./swap.js";
import { start as table } from "./table.js";
import { start as copy } from "./copy.js";
import { start as steps } from "./steps.js";
import { start as playground } from "./playground.js";
import { start as slider } from "./slider.js";
import { start as files } from "./files.js";
import { start as judge } from "./judge.js";

// On a narrow screen, filters and settings are folded until they are asked for.
const unfolded = new Set();

function fold(root) {
  for (const each of root.querySelectorAll("details[data-fold]")) {
    const name = each.className;
    each.open = unfolded.has(name) || !matchMedia("(max-width: 640px)").matches;
    each.addEventListener("toggle", () => {
      if (each.open) unfolded.add(name);
      else unfolded.delete(name);
    });
  }
}

const parts = [fold, swap, table, copy, steps, playground, slider, files, judge];

const prepare = (root) => parts.forEach((part) => part(root));

document.addEventListener("judged:swapped", (event) => prepare(event.detail.element));
prepare(document);
