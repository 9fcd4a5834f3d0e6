/**
 * Bounds the bytes that one round of calls lets Redis answer. An answer that takes longer than the command timeout is
 * lost, although Redis has done the work. A link of 350 kB/s brings this many bytes in 3 s.
 */
export const ROWS_BYTES_MAX = 1024 * 1024

/** Counts how many of the first rows fit. It is at least one, since a single row may be larger than the bound. */
export function countWithin(sizes: readonly number[], bytesMax: number): number {
  let bytes = 0
  const tooMuch = sizes.findIndex((size, i) => {
    bytes += size
    return i > 0 && bytes > bytesMax
  })
  return tooMuch < 0 ? sizes.length : tooMuch
}
