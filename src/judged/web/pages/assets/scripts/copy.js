// A button that copies, beside every <pre data-copy>.
import { announce } from "./swap.js";

/** Copy a text, and let the button that was pressed say so for a moment. */
export async function copy(button, text) {
  const words = button.textContent;
  try {
    await navigator.clipboard.writeText(text);
    button.textContent = "Copied";
    announce("Copied.");
  } catch {
    button.textContent = "Not copied";
    announce("This browser did not let the page copy.");
  }
  setTimeout(() => (button.textContent = words), 1500);
}

export function start(root) {
  for (const element of root.querySelectorAll("pre[data-copy]")) {
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", () => copy(button, element.textContent));
    element.removeAttribute("data-copy");
    element.before(button);
  }
}
