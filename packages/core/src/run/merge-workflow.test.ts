import { expect, it } from 'vitest'
import { signalWait, timer, WorkflowFixture } from '../../test/workflows.ts'
import type { Command } from '../rules/events.ts'
import { RULES } from '../rules/rules.ts'
import type { Signal, Transaction } from '../transaction.ts'

const signal = (id: string): Signal => ({ name: 'approval', id, digest: id, payload: `"${id}"` })
const send = (id: string): Command => ({ type: 'signal-asked', signal: signal(id) })

/** The save of a plan with a wait is refused, because another node has given commands. Each of these reads the row before it. */
function planBeside(commands: readonly Command[]): WorkflowFixture {
  const fixture = WorkflowFixture.accepted().settled()
  let row: Transaction = fixture.workflow
  fixture.plan({ next: [signalWait('approval', { timeoutMs: 5_000 }), timer('rest', 10_000)] }, 'any')
  for (const command of commands) {
    row = RULES.fold(row, command, fixture.storeNow).next
    fixture.conflict().reread(row)
  }
  return fixture
}

function listTakers({ workflow }: WorkflowFixture) {
  return (workflow.signals ?? []).map(({ id, takenBy }) => [id, takenBy === undefined ? 'kept' : takenBy])
}

it('A wait that the row still lacks takes its signal anew with each merge, so that no other wait gets it too', () => {
  const fixture = planBeside([send('first'), send('second'), { type: 'retry-asked' }])
  const position = fixture.positionOf('approval')
  const takers = [
    ['first', position],
    ['second', 'kept'],
  ]
  expect(listTakers(fixture)).toEqual(takers)
  expect(fixture.workflow.branches[position]?.action).toMatchObject({
    state: 'succeeded',
    values: ['"first"'],
  })
  expect(fixture.workflow.order).toEqual([position])
  fixture.settled()
  expect(fixture.planCall.journal).toMatchObject([{ id: 'approval', value: 'first' }])
  expect(listTakers(fixture)).toEqual(takers)
})
