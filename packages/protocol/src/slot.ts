const SLOT = /^~([1-9][0-9]{0,8})$/

/** Reads the number of a slot such as `~3`, under which a local step runs. Returns undefined for what is no slot. */
export function readSlot(slot: unknown): number | undefined {
  const [, digits] = (typeof slot === 'string' ? SLOT.exec(slot) : undefined) ?? []
  return digits === undefined ? undefined : Number(digits)
}
