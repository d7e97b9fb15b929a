// The playground's tiles: click, drag, type, move by keyboard. The list is kept here as texts, as
// the server wrote them; every number comes from the server.
import { copy } from "./copy.js";
import { addressOf, swap } from "./swap.js";

let used = ""; // the tool that was pressed last; none where a tile was used since
let wanted = null; // the tile that has the focus after the next swap
let drawn = null; // the last curve, which stays until the next one is there

/** The list as it stands on the page: grades as they are written, and ties. */
function read(form) {
  return [...form.querySelectorAll(".tile[data-grade]")].map((tile) => ({
    grade: tile.dataset.grade,
    joined: tile.dataset.joined !== undefined, // shares the score of the one before
  }));
}

/** The list as a text: "0 (1 -) 2". */
function written(list) {
  return list
    .map(({ grade, joined }, at) => {
      const next = list[at + 1]?.joined ?? false;
      return (next && !joined ? "(" : "") + grade + (joined && !next ? ")" : "");
    })
    .join(" ");
}

/** Take a result out; the next one of its tie begins what is left of it. */
function taken(list, at) {
  const [one] = list.splice(at, 1);
  if (!one.joined && list[at]?.joined) list[at].joined = false;
  return one;
}

/** Put a result in; between two that share a score it shares it too. */
function put(list, at, one) {
  list.splice(at, 0, { ...one, joined: list[at]?.joined ?? false });
}

/** Tiles as a list has them; what else there is to show comes from the server. */
function show(form, list) {
  const tiles = [...form.querySelectorAll(".tile[data-grade]")];
  while (tiles.length > list.length) tiles.pop().closest("li").remove();
  while (tiles.length < list.length) {
    const item = tiles.at(-1).closest("li");
    const more = item.cloneNode(true);
    const rank = tiles.length + 1;
    more.className = "";
    more.querySelector(".rank").textContent = String(rank);
    more.querySelector(".under").textContent = "";
    const tile = more.querySelector(".tile");
    tile.id = `tile-${rank}`;
    tile.setAttribute("aria-label", `Rank ${rank}`);
    item.after(more);
    tiles.push(tile);
  }
  list.forEach(({ grade, joined }, at) => {
    tiles[at].dataset.grade = grade;
    if (joined) tiles[at].dataset.joined = "";
    else delete tiles[at].dataset.joined;
    const look = grade === "-" ? "unjudged" : grade === "0" ? "none" : `g${looks(grade)}`;
    tiles[at].className = `tile ${look}`;
    tiles[at].textContent = { "-": "?", 0: "·", 1: "✓" }[grade] ?? grade;
  });
}

let served = null; // the list that the numbers on the page are about
let changes = 0;

/** Show a new list at once, and ask the server what it means. */
async function change(form, list, focus) {
  if (!list.length || list.length > Number(form.dataset.most)) return;
  served ??= read(form);
  show(form, list);
  wanted = Math.max(0, Math.min(focus, list.length - 1));
  choose(form, wanted);
  focusOn(form, wanted);
  let field = form.querySelector("input[name=list]");
  if (!field) {
    field = document.createElement("input");
    field.type = "hidden";
    field.name = "list";
    form.append(field);
  }
  field.value = written(list);
  changes += 1;
  const mine = changes;
  const fresh = await swap(addressOf(form), "main");
  if (mine !== changes) return;
  // Refused: the tiles are again as the numbers have them.
  if (!fresh && form.isConnected && served) show(form, served);
  served = null;
}

/** The focus goes to a tile, unless a tool has it, which can be pressed again. */
function focusOn(form, at) {
  const tool = form.querySelector(`[data-tool="${used}"]`);
  const place = tool && !tool.disabled ? tool : form.querySelector(`#tile-${at + 1}`);
  place?.focus({ preventScroll: true });
}

const looks = (grade) => (/^[123]$/.test(grade) ? grade : "3");

/** Make one tile that which Tab stops at, and which the tools are about. */
function choose(form, at) {
  const tiles = [...form.querySelectorAll(".tile[data-grade]")];
  tiles.forEach((tile, place) => {
    tile.tabIndex = place === at ? 0 : -1;
    tile.closest("li").classList.toggle("chosen-tile", place === at);
  });
  form.dataset.at = String(at);
  const said = form.querySelector("[data-tool-rank]");
  if (said) said.textContent = `Rank ${at + 1}`;
  const tie = form.querySelector("[data-tool=tie]");
  const joined = tiles[at]?.dataset.joined !== undefined;
  if (tie) {
    tie.textContent = joined ? "A score of its own" : "Share score with the one before";
    tie.disabled = at === 0;
  }
  for (const [name, off] of [
    ["left", at === 0],
    ["right", at === tiles.length - 1],
    ["remove", tiles.length === 1],
  ]) {
    const tool = form.querySelector(`[data-tool=${name}]`);
    if (tool) tool.disabled = off;
  }
}

const place = (form) => Number(form.dataset.at ?? 0);

/** Everything that keys and tools do. */
function act(form, what, at) {
  const list = read(form);
  if (!list[at]) return;
  if (what === "left" || what === "right") {
    const to = at + (what === "left" ? -1 : 1);
    if (to < 0 || to >= list.length) return;
    // A step within a tie keeps it; a step out of it leaves it.
    const inside = what === "left" ? list[at].joined : list[to].joined;
    if (inside) [list[at].grade, list[to].grade] = [list[to].grade, list[at].grade];
    else put(list, to, taken(list, at));
    change(form, list, to);
  } else if (what === "remove") {
    taken(list, at);
    change(form, list, at);
  } else if (what === "add") {
    list.push({ grade: "0", joined: false });
    change(form, list, list.length - 1);
  } else if (what === "tie") {
    if (at === 0) return;
    list[at].joined = !list[at].joined;
    change(form, list, at);
  } else {
    list[at].grade = what;
    change(form, list, at);
  }
}

function onKey(event) {
  const tile = event.target.closest(".tile[data-grade]");
  const form = tile?.form;
  if (!form || event.ctrlKey || event.metaKey || event.altKey) return;
  const tiles = [...form.querySelectorAll(".tile[data-grade]")];
  const at = tiles.indexOf(tile);
  const go = { ArrowLeft: at - 1, ArrowRight: at + 1, Home: 0, End: tiles.length - 1 }[event.key];
  let what = null;
  if (event.shiftKey && event.key === "ArrowLeft") what = "left";
  else if (event.shiftKey && event.key === "ArrowRight") what = "right";
  else if (go !== undefined) {
    const to = Math.max(0, Math.min(go, tiles.length - 1));
    choose(form, to);
    tiles[to].focus();
    if (served) wanted = to; // a change is on its way: the focus stays where it went since
    event.preventDefault();
    return;
  } else if (/^[0-9]$/.test(event.key)) what = event.key;
  else if (event.key === "u" || event.key === "?" || event.key === "-") what = "-";
  else if (event.key === "t") what = "tie";
  else if (event.key === "+") what = "add";
  else if (event.key === "Delete" || event.key === "Backspace") what = "remove";
  if (what === null) return;
  event.preventDefault();
  used = "";
  act(form, what, at);
}

/** Dragging with mouse, pen or finger: a finger holds first, so that the page can be scrolled. */
function onPointer(event) {
  const tile = event.target.closest(".tile[data-grade]");
  const form = tile?.form;
  if (!form || event.button !== 0) return;
  const items = [...form.querySelectorAll(".tile[data-grade]")].map((each) => each.closest("li"));
  const from = items.findIndex((item) => item.contains(tile));
  const boxes = items.map((item) => item.getBoundingClientRect());
  const begin = { x: event.clientX, y: event.clientY };
  const finger = event.pointerType === "touch";
  let to = from;
  let dragging = false;
  const still = matchMedia("(prefers-reduced-motion: reduce)").matches;

  const lift = () => {
    dragging = true;
    choose(form, from);
    items[from].classList.add("dragged");
    tile.setPointerCapture?.(event.pointerId);
  };
  const hold = finger ? setTimeout(lift, 220) : null;
  const nearest = (x, y) => {
    const far = (box) => Math.hypot(box.x + box.width / 2 - x, 2 * (box.y + box.height / 2 - y));
    return boxes.reduce((best, box, at) => (far(box) < far(boxes[best]) ? at : best), 0);
  };
  const move = (moved) => {
    if (moved.pointerId !== event.pointerId) return;
    const x = moved.clientX - begin.x;
    const y = moved.clientY - begin.y;
    if (!dragging) {
      if (Math.hypot(x, y) < 6) return;
      if (finger && Math.abs(y) > Math.abs(x)) return end(); // a scroll
      lift();
    }
    to = nearest(moved.clientX, moved.clientY);
    items.forEach((item, at) => {
      if (at === from) {
        item.style.transform = `translate(${x}px, ${y}px)`;
        return;
      }
      const shifted = from < at && at <= to ? at - 1 : to <= at && at < from ? at + 1 : at;
      const [now, then] = [boxes[at], boxes[shifted]];
      item.style.transform =
        still || shifted === at ? "" : `translate(${then.x - now.x}px, ${then.y - now.y}px)`;
    });
  };
  const end = () => {
    clearTimeout(hold);
    removeEventListener("pointermove", move);
    removeEventListener("pointerup", drop);
    removeEventListener("pointercancel", end);
    removeEventListener("keydown", escape, true);
    form.removeEventListener("touchmove", pinned);
    items.forEach((item) => {
      item.classList.remove("dragged");
      item.style.transform = "";
    });
  };
  const drop = (dropped) => {
    if (dropped.pointerId !== event.pointerId) return;
    const was = dragging;
    end();
    if (!was) return;
    // The click that follows a drag changes no grade.
    const swallow = (click) => {
      click.preventDefault();
      click.stopPropagation();
    };
    addEventListener("click", swallow, { capture: true, once: true });
    setTimeout(() => removeEventListener("click", swallow, { capture: true }), 50);
    if (to === from) return;
    used = "";
    const list = read(form);
    put(list, to, taken(list, from));
    change(form, list, to);
  };
  const escape = (key) => {
    if (key.key === "Escape") end();
  };
  const pinned = (touch) => {
    if (dragging) touch.preventDefault();
  };
  addEventListener("pointermove", move);
  addEventListener("pointerup", drop);
  addEventListener("pointercancel", end);
  addEventListener("keydown", escape, true);
  form.addEventListener("touchmove", pinned, { passive: false });
}

let watching = false;

function watch() {
  if (watching) return;
  watching = true;
  document.addEventListener("keydown", onKey);
  document.addEventListener("pointerdown", onPointer);
  document.addEventListener("click", (event) => {
    const target = event.target instanceof Element ? event.target : null;
    const tool = target?.closest("[data-tool]");
    used = tool?.dataset.tool ?? "";
    if (tool?.form) act(tool.form, used === "unjudged" ? "-" : used, place(tool.form));
    const tile = target?.closest(".tile[data-grade]");
    if (tile?.form) {
      // A change that is on its way is not lost: the click is about the list as it stands here.
      event.preventDefault();
      const at = [...tile.form.querySelectorAll(".tile[data-grade]")].indexOf(tile);
      act(tile.form, clicked(tile.dataset.grade, Number(tile.form.dataset.top)), at);
    } else if (target?.closest("#tile-add")) {
      event.preventDefault();
      act(target.closest("form"), "add", 0);
    }
    const link = target?.closest("[data-copy-link]");
    if (link) copy(link, location.href);
  });
  document.addEventListener("contextmenu", (event) => {
    if (document.querySelector(".dragged")) event.preventDefault();
  });
}

/** What a click makes of a grade: the next one, then not judged, then 0 again. */
function clicked(grade, top) {
  if (!/^[0-9]$/.test(grade)) return "0";
  return Number(grade) < top ? String(Number(grade) + 1) : "-";
}

export function start(root) {
  watch();
  const curve = root.querySelector?.(".curve [data-load]");
  if (curve && drawn?.childNodes.length) curve.replaceChildren(...drawn.cloneNode(true).childNodes);
  const figure = root.querySelector?.("figure") && root.closest?.(".curve");
  if (figure) drawn = root;
  const form = root.querySelector?.("#tiles");
  if (!form) return;
  const at = Math.min(wanted ?? 0, form.querySelectorAll(".tile[data-grade]").length - 1);
  choose(form, at);
  if (wanted !== null) focusOn(form, at);
  wanted = null;
}
