import { expect, it } from 'vitest'
import { toListCommand } from './to-list-command.ts'

it('The list is written as the command line takes it', () => {
  expect(toListCommand({}, 50)).toBe('counterstep tx list --limit 50')
  expect(
    toListCommand(
      {
        status: ['submitted', 'aborting'],
        name: 'transfer',
        tag: ['region:eu', 'tier:2'],
        problem: "bank-a compensate '500'",
        flags: ['attention', 'byHand'],
        range: '24h',
        order: '-due',
      },
      1_000,
    ),
  ).toBe(
    "counterstep tx list --status submitted,aborting --name transfer --tag region:eu --tag tier:2 --problem 'bank-a compensate '\\''500'\\''' --attention --by-hand --from 1440min --order=-due --limit 1000",
  )
})
