import { BULK_COMMANDS } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { BULK_WORDS, toBulkCommandLine, toBulkRequest } from './bulk-target.ts'

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
})
