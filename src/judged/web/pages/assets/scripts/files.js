// Files: chosen or dropped, and sent as they are; the server says what each is.
import { announce, swap } from "./swap.js";

/** Send one file; its line says how far it is, and what the server found or refused. */
function send(file, list) {
  const line = document.createElement("li");
  const name = document.createElement("b");
  const bar = document.createElement("progress");
  name.textContent = file.name;
  bar.max = 1;
  bar.value = 0;
  bar.setAttribute("aria-label", `Sending ${file.name}`);
  line.append(name, bar);
  list.append(line);
  return new Promise((done) => {
    const request = new XMLHttpRequest();
    request.open("POST", `/api/upload?${new URLSearchParams({ name: file.name })}`);
    request.setRequestHeader("Content-Type", "application/octet-stream");
    request.upload.addEventListener("progress", (event) => {
      if (event.lengthComputable) bar.value = event.loaded / event.total;
    });
    request.addEventListener("loadend", () => {
      bar.remove();
      const said = document.createElement("span");
      let answer = {};
      try {
        answer = JSON.parse(request.responseText);
      } catch {
        answer.error = "The server does not answer. Is judged serve still running?";
      }
      const refused = request.status !== 200;
      said.textContent = refused ? answer.error : answer.says;
      said.className = refused ? "refused" : "soft";
      line.append(said);
      announce(`${file.name}: ${said.textContent}`);
      done(!refused);
    });
    request.send(file);
  });
}

/** Send files one after the other, and show the page as it is then. */
async function sendAll(files, place) {
  const list = place.querySelector("[data-sent]");
  if (!list || !files.length) return;
  list.replaceChildren();
  const sent = [];
  for (const file of files) sent.push(await send(file, list));
  if (!sent.some(Boolean)) return;
  const lines = [...list.children].filter((line) => line.querySelector(".refused"));
  await swap(location.href, "main", { push: false });
  document.querySelector("[data-sent]")?.replaceChildren(...lines);
}

let listening = false;

function listen() {
  const target = () => document.querySelector("[data-drop]");
  const holdsFiles = (event) => [...(event.dataTransfer?.types ?? [])].includes("Files");
  document.addEventListener("change", (event) => {
    const input = event.target;
    if (input.dataset?.upload === undefined) return;
    sendAll([...input.files], target());
  });
  document.addEventListener("dragover", (event) => {
    if (!target() || !holdsFiles(event)) return;
    event.preventDefault();
    target().classList.add("over");
  });
  document.addEventListener("dragleave", (event) => {
    if (event.relatedTarget === null) target()?.classList.remove("over");
  });
  document.addEventListener("drop", (event) => {
    const place = target();
    if (!place || !holdsFiles(event)) return;
    event.preventDefault();
    place.classList.remove("over");
    sendAll([...event.dataTransfer.files], place);
  });
}

export function start() {
  if (!listening) listen();
  listening = true;
}
