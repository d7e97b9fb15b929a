// The playground's tiles.

export function start() {}
