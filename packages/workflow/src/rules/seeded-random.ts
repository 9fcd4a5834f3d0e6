/** A generator of 32 bits at a time. */
export type Random = () => number

/** Makes the generator of one generation of a workflow: the same on every replay, and not for secrets. */
export function seedRandom(text: string): Random {
  const state = hashText(text)
  let [a, b, c, d] = state
  // This is sfc32, which needs some rounds before its output depends on all of its seed.
  const draw = (): number => {
    const sum = (((a + b) | 0) + d) | 0
    d = (d + 1) | 0
    a = b ^ (b >>> 9)
    b = (c + (c << 3)) | 0
    c = (((c << 21) | (c >>> 11)) + sum) | 0
    return sum >>> 0
  }
  for (let round = 0; round < 16; round++) draw()
  return draw
}

/** Draws from [0, 1) with 53 bits, as Math.random does. */
export function drawFraction(random: Random): number {
  return ((random() >>> 5) * 2 ** 26 + (random() >>> 6)) / 2 ** 53
}

/** Draws a UUID of version 4. */
export function drawUuid(random: Random): string {
  const hex = [random(), random(), random(), random()]
    .map((each) => each.toString(16).padStart(8, '0'))
    .join('')
  const variant = '89ab'.charAt(Number.parseInt(hex.charAt(16), 16) & 3)
  const parts = [
    hex.slice(0, 8),
    hex.slice(8, 12),
    `4${hex.slice(13, 16)}`,
    variant + hex.slice(17, 20),
    hex.slice(20),
  ]
  return parts.join('-')
}

/** Four FNV-1a hashes with different starts. */
function hashText(text: string): [number, number, number, number] {
  const starts: [number, number, number, number] = [0x811c9dc5, 0x9e3779b9, 0x85ebca6b, 0xc2b2ae35]
  const hash = (start: number): number => {
    let value = start
    for (let at = 0; at < text.length; at++) value = Math.imul(value ^ text.charCodeAt(at), 0x01000193)
    return value | 0
  }
  return [hash(starts[0]), hash(starts[1]), hash(starts[2]), hash(starts[3])]
}
