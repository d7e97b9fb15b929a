// Long tables: only the rows in sight.

export function start() {}
