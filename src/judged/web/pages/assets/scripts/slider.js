// The temperature slider: shows what the server computed at each stop. Nothing is computed here.

const WIDTH = 160; // of a bar, as the server draws it

function show(root, stop) {
  for (const place of root.querySelectorAll("[data-show]")) {
    place.textContent = stop[place.dataset.show];
  }
  for (const list of root.querySelectorAll("[data-list]")) {
    const shares = stop[list.dataset.list];
    [...list.children].forEach((row, at) => {
      const [text, share] = shares[at];
      row.querySelector("[data-share]").textContent = text;
      row.querySelector("[data-bar]").setAttribute("width", (WIDTH * share).toFixed(2));
    });
  }
}

function prepare(root) {
  const stops = JSON.parse(root.querySelector("[data-stops]").textContent);
  const slider = root.querySelector("input[type=range]");
  const moved = () => {
    const stop = stops[Number(slider.value)];
    slider.setAttribute("aria-valuetext", stop.temperature);
    show(root, stop);
  };
  slider.addEventListener("input", moved);
  slider.addEventListener("change", () => {
    const url = new URL(location.href);
    url.searchParams.set("temperature", stops[Number(slider.value)].temperature);
    history.replaceState(history.state, "", url);
  });
}

export function start(root) {
  const found = [...root.querySelectorAll("[data-slider]")];
  if (root.matches?.("[data-slider]")) found.push(root);
  for (const each of found) {
    if (each.dataset.ready) continue;
    each.dataset.ready = "yes";
    prepare(each);
  }
}
