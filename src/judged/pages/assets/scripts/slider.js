// The temperature slider.

export function start() {}
