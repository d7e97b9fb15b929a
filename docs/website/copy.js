// A button at each block of code that copies it, without prompts and outputs of a shell.
document.addEventListener("DOMContentLoaded", () => {
  for (const block of document.querySelectorAll("div.highlight")) {
    const code = block.querySelector("pre");
    if (!code || !navigator.clipboard) continue;
    const button = document.createElement("button");
    button.type = "button";
    button.className = "copy";
    button.textContent = "Copy";
    button.addEventListener("click", async () => {
      const lines = code.textContent.trimEnd().split("\n");
      const typed = lines.filter((line) => /^(\$|>>>|\.\.\.)( |$)/.test(line));
      const text = typed.length ? typed.map((line) => line.replace(/^(\$|>>>|\.\.\.) ?/, "")) : lines;
      await navigator.clipboard.writeText(text.join("\n") + "\n");
      button.textContent = "Copied";
      setTimeout(() => (button.textContent = "Copy"), 2000);
    });
    block.append(button);
  }
});
