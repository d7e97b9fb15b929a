// Files: choosing, dropping, removing.

export function start() {}
