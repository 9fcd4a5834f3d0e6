import { BULK_COMMANDS } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { BULK_WORDS, describeDrift, offerBulk, toBulkCommandLine, toBulkRequest } from './bulk-target.ts'

const FIELDS = { reason: "the bank's disk is mended", canary: 10, ratePerSecond: 20 }

describe('a bulk job as others give it', () => {
  it('A request has what was chosen, the command and the pace', () => {
    expect(toBulkRequest({ command: 'retry', choice: { gids: ['a', 'b'] } }, FIELDS)).toEqual({
      command: 'retry',
      gids: ['a', 'b'],
      ...FIELDS,
    })
  })

  it('A line for a shell quotes what a shell would read in another way', () => {
    const request = toBulkRequest(
      { command: 'pause', choice: { filter: 'problem=a+b&byHand=true&createdFrom=1700000000000' } },
      FIELDS,
    )
    expect(toBulkCommandLine(request)).toBe(
      "counterstep bulk start pause --problem 'a b' --by-hand --from 1700000000000 --reason 'the bank'\\''s disk is mended'",
    )
  })

  it('Gids that were picked go through a pipe', () => {
    const request = toBulkRequest({ command: 'retry', choice: { gids: ['a', 'b;c'] } }, FIELDS)
    expect(toBulkCommandLine(request)).toMatch(
      /^printf '%s\\n' a 'b;c' \| counterstep bulk start retry --gids - /,
    )
  })

  it('Each command has words', () => {
    for (const command of BULK_COMMANDS) expect(BULK_WORDS[command].verb).not.toBe('')
  })

  it('Another number than that of the button is explained', () => {
    expect(describeDrift(5, { count: 5, isExact: true })).toBeUndefined()
    expect(describeDrift(undefined, { count: 5, isExact: true })).toBeUndefined()
    expect(describeDrift(5, { count: 3, isExact: true })).toBe('2 have got on by themselves since.')
    expect(describeDrift(5, { count: 4, isExact: true })).toBe('1 has got on by itself since.')
    expect(describeDrift(5, { count: 6, isExact: true })).toBe('1 has come since.')
    expect(describeDrift(9_000, { count: 5_000, isExact: false })).toBeUndefined()
  })

  it('What is being undone already is not offered to be aborted', () => {
    const aborting = { status: 'aborting' } as const
    const submitted = { status: 'submitted' } as const
    expect(offerBulk(['retry', 'abort'], [aborting, aborting], true)).toEqual(['retry'])
    expect(offerBulk(['retry', 'abort'], [aborting, submitted], true)).toEqual(['retry', 'abort'])
    expect(offerBulk(['retry', 'abort'], [aborting], false)).toEqual(['retry', 'abort'])
    expect(offerBulk(['retry', 'abort'], [], true)).toEqual(['retry', 'abort'])
  })
})
