/** A function that runs nothing takes some 110 MB, and what was freed is not all given back. */
const OWN_MB = 192
/**
 * So many places of 32 KiB have room in a MB. A transaction is in memory as its text, as what was read of it, and as what is
 * sent and saved, and each save leaves as much to the garbage.
 */
const PLACES_PER_MB = 2
/** The largest row takes so many, and at least one is run at a time. */
const PLACES_MIN = 128

/** Counts the places that the claimed transactions of an invocation may take together in a function of this memory. */
export function countMemoryPlaces(memoryMb: number): number {
  return Math.max(PLACES_MIN, (memoryMb - OWN_MB) * PLACES_PER_MB)
}
