/** A body of 1 MiB has no more objects and lists than this. */
const COPIES_MAX = 2 ** 19

/**
 * Copies the objects, the lists and the Buffers that a body parser has made, however deep they nest. A value of any other class,
 * such as a stream, stays the same one, and so does a payload that is larger than a body may be, or a part of itself.
 */
export function copyPayload(payload: unknown): unknown {
  const open: object[] = []
  let copies = 0
  const copy = (value: unknown): unknown => {
    const made = copyShallow(value)
    if (made === undefined) return value
    copies += 1
    open.push(made)
    return made
  }
  const copied = copy(payload)
  for (let made = open.pop(); made !== undefined; made = open.pop()) {
    if (copies > COPIES_MAX) return payload
    copyParts(made, copy)
  }
  return copied
}

function copyParts(made: object, copy: (value: unknown) => unknown): void {
  if (Buffer.isBuffer(made)) return
  if (Array.isArray(made)) {
    for (let at = 0; at < made.length; at++) made[at] = copy(made[at])
    return
  }
  const parts = made as Record<string, unknown>
  for (const key of Object.keys(parts)) parts[key] = copy(parts[key])
}

function copyShallow(value: unknown): object | undefined {
  if (typeof value !== 'object' || value === null) return undefined
  if (Array.isArray(value)) return value.slice()
  if (Buffer.isBuffer(value)) return Buffer.from(value)
  const prototype: object | null = Object.getPrototypeOf(value)
  if (prototype === null) return Object.assign(Object.create(null), value)
  // The prototype of a plain object has none itself, in whichever realm it was made.
  return Object.getPrototypeOf(prototype) === null ? { ...value } : undefined
}
