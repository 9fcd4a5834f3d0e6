/**
 * What one round of calls lets Redis answer: an answer that takes longer than the command timeout is lost, though what
 * it tells of has happened. A link of 350 kB/s brings so much in 3 s.
 */
export const ROWS_BYTES_MAX = 1024 * 1024

/** How many of the first rows fit; one at least, since it may be larger by itself. */
export function countWithin(sizes: readonly number[], bytesMax: number): number {
  let bytes = 0
  const tooMuch = sizes.findIndex((size, i) => {
    bytes += size
    return i > 0 && bytes > bytesMax
  })
  return tooMuch < 0 ? sizes.length : tooMuch
}
