// The entry: every module prepares what is on the page, and again what a swap brings.
import { start as swap } from "./swap.js";
import { start as table } from "./table.js";
import { start as copy } from "./copy.js";
import { start as steps } from "./steps.js";
import { start as playground } from "./playground.js";
import { start as slider } from "./slider.js";
import { start as files } from "./files.js";
import { start as judge } from "./judge.js";

const parts = [swap, table, copy, steps, playground, slider, files, judge];

const prepare = (root) => parts.forEach((part) => part(root));

document.addEventListener("judged:swapped", (event) => prepare(event.detail.element));
prepare(document);
