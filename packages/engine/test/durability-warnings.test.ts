import { expect, it } from 'vitest'
import { listDurabilityWarnings } from '../src/durability-warnings.ts'

const ROWS = [
  ['A', 'none', []],
  ['A', 'lossless', []],
  ['A', 'lossy', ['say so by --store-failover']],
  ['B', 'none', ['power loss']],
  ['B', 'lossy', ['power loss', 'say so by --store-failover']],
  ['C', 'none', ['crash of its process']],
  ['C', 'lossless', ['crash of its process']],
] as const

for (const [durabilityClass, failover, words] of ROWS) {
  it(`class ${durabilityClass} with failover ${failover} warns of: ${words.join(', ') || 'nothing'}`, () => {
    const warnings = listDurabilityWarnings({ durabilityClass, failover }, '--store-failover')
    expect(warnings).toEqual(words.map((word) => expect.stringContaining(word)))
  })
}
