// The sum behind a number, step by step.

export function start() {}
