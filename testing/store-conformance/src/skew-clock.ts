/** Sets the clock of this process wrong, for everything that is loaded afterwards. */
export function skewClock(byMs: number): void {
  if (byMs === 0) return
  const skewed = new Proxy(Date, {
    construct: (target, parts) =>
      Reflect.construct(target, parts.length === 0 ? [target.now() + byMs] : parts),
    get: (target, name) => (name === 'now' ? () => target.now() + byMs : Reflect.get(target, name)),
  })
  Object.defineProperty(globalThis, 'Date', { value: skewed })
}
