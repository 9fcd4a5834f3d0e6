// Prints how many KB of the values that went through a map are left in the heap
// after minor collections alone. The argument names the map.
import { ShortLivedMap } from '../../src/short-lived-map.ts'

const LIVE = 16
const ROUNDS = 50
const ENTRIES_PER_ROUND = 1_000
const WORDS = 128

declare const gc: (options?: { readonly type: 'minor' }) => void

const map = process.argv[2] === 'Map' ? new Map<string, unknown>() : new ShortLivedMap<string, unknown>()
let entries = 0

function pass(count: number): void {
  for (let i = 0; i < count; i++) {
    map.set(`key-${entries}`, { words: new Array(WORDS).fill(entries) })
    map.delete(`key-${entries - LIVE}`)
    entries += 1
  }
}

pass(LIVE)
// An object that survives two of them is old.
for (let i = 0; i < 3; i++) gc({ type: 'minor' })
gc()
const before = process.memoryUsage().heapUsed
for (let round = 0; round < ROUNDS; round++) {
  pass(ENTRIES_PER_ROUND)
  gc({ type: 'minor' })
}
for (let i = 0; i < 2; i++) gc({ type: 'minor' })
process.stdout.write(String(Math.round((process.memoryUsage().heapUsed - before) / 1024)))
