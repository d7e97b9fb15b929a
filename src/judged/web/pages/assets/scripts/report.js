// The table of every query: strips drawn for the rows in sight, sorting, a filter, and the command
// that explains the first row. A classic script, for modules do not load from a file.
(() => {
  "use strict";
  const SVG = "http://www.w3.org/2000/svg";
  const WIDTH = 6, GAP = 1, HEIGHT = 14;
  const PRINTED = 4000; // so many strips are drawn for paper; of more the characters stay

  const box = (kind, x, part) => {
    const outlined = kind === "hatched" || kind === "absent";
    const rect = document.createElementNS(SVG, "rect");
    const inset = outlined ? 0.5 : 0;
    const shape = {
      class: kind,
      x: x + inset,
      y: HEIGHT * (1 - part) + inset,
      width: WIDTH - 2 * inset,
      height: HEIGHT * part - 2 * inset,
      rx: 1,
    };
    for (const name of Object.keys(shape)) rect.setAttribute(name, shape[name]);
    if (kind === "hatched") rect.setAttribute("fill", "none");
    return rect;
  };
  // Lines instead of a pattern: browsers take minutes to print thousands of patterns.
  const hatching = (places) => {
    const path = document.createElementNS(SVG, "path");
    path.setAttribute("class", "hatching");
    const lines = places.flatMap((x) => [6, 10, 13.5].map((y) => `M${x + 0.5} ${y}l5-5`));
    path.setAttribute("d", lines.join(""));
    return path;
  };

  // A cell is a value and, in the line below, its strip; drawn, the strip is a picture of it.
  const draw = (cell) => {
    const text = cell.firstChild;
    const [value, code] = text ? text.data.split("\n") : [];
    if (!code) return;
    const levels = Number(cell.closest("table").dataset.levels);
    const svg = document.createElementNS(SVG, "svg");
    svg.setAttribute("class", "strip");
    const width = code.length * (WIDTH + GAP) - GAP;
    svg.setAttribute("width", width);
    svg.setAttribute("height", HEIGHT);
    svg.setAttribute("viewBox", `0 0 ${width} ${HEIGHT}`);
    svg.setAttribute("role", "img");
    svg.setAttribute("aria-label", code);
    [...code].forEach((letter, at) => {
      const x = at * (WIDTH + GAP);
      if (letter === "?") svg.append(box("hatched", x, 1));
      else if (letter === "-") svg.append(box("absent", x, 1));
      else if (letter === ".") svg.append(box("none", x, 0.28));
      else svg.append(box(`g${letter}`, x, 0.45 + (0.55 * Number(letter)) / levels));
    });
    const unjudged = [...code].flatMap((letter, at) => (letter === "?" ? at * (WIDTH + GAP) : []));
    if (unjudged.length) svg.append(hatching(unjudged));
    text.data = value;
    cell.append(svg);
  };
  const undraw = (cell) => {
    const svg = cell.querySelector("svg");
    if (!svg) return;
    cell.firstChild.data += `\n${svg.getAttribute("aria-label")}`;
    svg.remove();
  };
  const STRIPS = ".stripped td:not([class])";

  const seen = new IntersectionObserver(
    (entries) => {
      for (const entry of entries) {
        for (const cell of entry.target.querySelectorAll("td:not([class])")) {
          if (entry.isIntersecting) draw(cell);
          else undraw(cell);
        }
      }
    },
    { rootMargin: "400px 0px" },
  );

  const number = (text) => {
    const found = parseFloat(text.replace("−", "-").replaceAll(",", ""));
    return Number.isNaN(found) ? null : found;
  };

  // What a cell is sorted by: a number, or the text of the first column.
  const key = (row, column) => {
    const cell = row.cells[column];
    const text = cell.firstChild ? cell.firstChild.textContent : "";
    return column === 0 ? text : number(text);
  };
  const order = (rows, column, down) => {
    const keyed = rows.map((row, at) => ({ row, at, by: key(row, column) }));
    keyed.sort((a, b) => {
      if (a.by === null || b.by === null) return (a.by === null) - (b.by === null) || a.at - b.at;
      const way = column === 0 ? (a.by < b.by ? -1 : a.by > b.by ? 1 : 0) : a.by - b.by;
      return (down ? -way : way) || a.at - b.at;
    });
    return keyed.map((each) => each.row);
  };

  const prepare = (part) => {
    const table = part.querySelector("table");
    const body = table.tBodies[0];
    let rows = [...body.rows];
    const filter = part.querySelector("input");
    const count = part.querySelector("output");
    const nothing = part.querySelector(".nothing-found");
    const command = part.querySelector("code[data-query]");
    const whole = rows.length.toLocaleString("en");

    const explain = () => {
      const first = rows.find((row) => !row.hidden);
      if (!command || !first) return;
      const head = first.cells[0];
      const id = head.title || head.firstChild.textContent;
      command.textContent = /^[\w@%+:,./-]+$/.test(id) && !id.startsWith("-")
        ? id
        : `'${id.replaceAll("'", `'"'"'`)}'`;
    };
    const look = () => {
      const wanted = filter.value.trim().toLowerCase();
      let shown = 0;
      for (const row of rows) {
        const head = row.cells[0];
        const text = `${head.title} ${head.textContent}`.toLowerCase();
        row.hidden = wanted !== "" && !text.includes(wanted);
        if (!row.hidden) shown += 1;
      }
      count.textContent = `${shown.toLocaleString("en")} of ${whole} queries`;
      nothing.hidden = shown > 0;
      nothing.querySelector("span").textContent = `No query contains '${filter.value.trim()}'.`;
      explain();
    };
    filter.addEventListener("input", look);
    nothing.querySelector("button").addEventListener("click", () => {
      filter.value = "";
      look();
      filter.focus();
    });

    const heads = [...table.tHead.rows[0].cells];
    heads.forEach((head, column) => {
      const button = document.createElement("button");
      button.type = "button";
      button.className = "sort";
      button.append(...head.childNodes);
      const arrow = document.createElement("span");
      arrow.setAttribute("aria-hidden", "true");
      button.append(arrow);
      head.append(button);
      head.setAttribute("aria-sort", column === 0 ? "ascending" : "none");
      button.addEventListener("click", () => {
        const now = head.getAttribute("aria-sort");
        const down = now === "none" ? column > 0 : now === "ascending";
        for (const other of heads) {
          other.setAttribute("aria-sort", "none");
          other.querySelector("button > span:last-child").textContent = "";
        }
        head.setAttribute("aria-sort", down ? "descending" : "ascending");
        arrow.textContent = down ? " ↓" : " ↑";
        rows = order(rows, column, down);
        body.append(...rows);
        explain();
      });
    });
    if (table.classList.contains("stripped")) for (const row of rows) seen.observe(row);
    look();
  };

  document.addEventListener("DOMContentLoaded", () => {
    for (const part of document.querySelectorAll(".every")) prepare(part);
  });
  // On paper all strips look alike: drawn, or characters where there are too many.
  addEventListener("beforeprint", () => {
    const strips = document.querySelectorAll(STRIPS);
    for (const cell of strips) (strips.length <= PRINTED ? draw : undraw)(cell);
    for (const folded of document.querySelectorAll("details:not([open], .no-print)")) {
      folded.dataset.folded = "";
      folded.open = true;
    }
  });
  addEventListener("afterprint", () => {
    for (const folded of document.querySelectorAll("details[data-folded]")) folded.open = false;
  });
})();
