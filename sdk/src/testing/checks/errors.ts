import type { BranchCheckPlan } from '../branch-check.ts'
import { FAILURE, mustHaveChanged, SUCCESS } from '../expectations.ts'
import { NOTHING } from '../state-change.ts'
import type { Trial, Unusual } from '../trial.ts'
import { NoAnswer, RuleBroken, Undecided } from '../verdict.ts'

/** No service expects such a payload, and the last one is not even JSON. */
const BROKEN: readonly Unusual[] = [
  { payload: null },
  { payload: 'text' },
  { payload: [] },
  { payload: {} },
  { body: '{"account":' },
]

/**
 * A broken payload is the only way to cause an internal error in every service from outside. Some services refuse the
 * payload, which is as good.
 */
export const brokenPayload: BranchCheckPlan = {
  name: 'broken-payload',
  needs: ['two-gids'],
  examine: async (trial) => {
    for (const unusual of BROKEN) await sendBroken(trial, unusual)
  },
}

async function sendBroken(trial: Trial, unusual: Unusual): Promise<void> {
  const { once } = trial.run.learned
  const ids = trial.newBranch()
  const start = await trial.readFirst(ids)
  const what = `the payload ${unusual.body ?? JSON.stringify(unusual.payload)}`
  const first = await trial.send('action', ids, unusual)
  if (first.statusCode === SUCCESS) {
    const change = await trial.changeSince(start, ids, [once.text])
    if (change.text !== NOTHING) return
    throw new RuleBroken('ERROR_SWALLOWED', `${what} was answered 200, and nothing was done`)
  }
  const between = await trial.changeSince(start, ids, [NOTHING])
  if (first.statusCode === FAILURE && between.text !== NOTHING) {
    throw new RuleBroken('FAILURE_LEFT_EFFECT', `${what} was answered 409, and changed ${between.text}`)
  }
  // `send` is used and not `ask`, because the answer to the first repeat tells what the first call left behind.
  const second = await trial.send('action', ids, unusual)
  const after = await trial.changeSince(start, ids, [between.text])
  const isLost = second.statusCode === SUCCESS && after.text === NOTHING
  if (!isLost && (between.text === NOTHING || after.text === between.text)) return
  const found = `${what} was answered ${first.statusCode}, then ${second.statusCode}; changed first: ${between.text}, then: ${after.text}`
  throw new RuleBroken('BARRIER_APART_FROM_EFFECT', found)
}

export const outage: BranchCheckPlan = {
  name: 'outage',
  needs: ['two-gids'],
  lacks: ({ outage }) => (outage === undefined ? 'no outage was given' : undefined),
  examine: async (trial, { branch, learned: { once } }) => {
    const ids = trial.newBranch()
    const start = await trial.readFirst(ids)
    trial.did('outage begins')
    await branch.outage?.begin()
    const statusCode = await readStatus(trial, ids).finally(async () => {
      trial.did('outage ends')
      await branch.outage?.end()
    })
    if (statusCode === FAILURE)
      throw new RuleBroken('ERROR_ANSWERED_AS_FAILURE', 'an outage was answered 409')
    if (statusCode === SUCCESS) {
      const { text } = await trial.changeSince(start, ids, [once.text])
      if (text === NOTHING)
        throw new RuleBroken('ERROR_SWALLOWED', 'an outage was answered 200, and nothing was done')
      throw new Undecided('the action succeeded during the outage: it does not hit the service')
    }
    const again = await trial.ask('action', ids)
    await mustHaveChanged(
      trial,
      { start, ids, expected: [once.text] },
      {
        code: 'BARRIER_APART_FROM_EFFECT',
        what: `the action, answered ${statusCode ?? 'nothing'} during the outage and ${again.statusCode} after it,`,
      },
    )
    if (again.statusCode === SUCCESS) return
    throw new RuleBroken('ACTION_NOT_DONE', `after the outage the action was answered ${again.statusCode}`)
  },
}

/** Returns undefined if there is no answer, because a service whose database is paused may well not answer in time. */
async function readStatus(trial: Trial, ids: { gid: string; branchId: string }): Promise<number | undefined> {
  try {
    return (await trial.send('action', ids)).statusCode
  } catch (error: unknown) {
    if (error instanceof NoAnswer) return undefined
    throw error
  }
}
