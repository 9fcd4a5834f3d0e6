import type { BranchCheckPlan } from '../branch-check.ts'
import { mustHaveChanged, SUCCESS } from '../expectations.ts'
import { NOTHING } from '../state-change.ts'
import type { Trial } from '../trial.ts'
import { RuleBroken } from '../verdict.ts'

/** Finds a body parser that refuses what the orchestrator sends, so that the branch never hears of the call. */
export const payloads: BranchCheckPlan = {
  name: 'payloads',
  needs: ['two-gids', 'compensation-first'],
  examine: async (trial, { branch: { payloadBytesMax }, learned: { once } }) => {
    const ids = trial.newBranch()
    const start = await trial.readFirst(ids)
    const { statusCode } = await trial.ask('action', ids, { bodyBytes: payloadBytesMax })
    const what = `the action with a body of ${payloadBytesMax} bytes`
    if (statusCode !== SUCCESS) {
      const advice = "raise the body parser's limit (express.json: limit: '1mb')"
      throw new RuleBroken('PAYLOAD_REFUSED', `${what} was answered ${statusCode}; ${advice}`)
    }
    await mustHaveChanged(
      trial,
      { start, ids, expected: [once.text] },
      { code: 'PAYLOAD_REFUSED', what: `${what}, answered 200,` },
    )
    await checkEveryJson(trial)
  },
}

/**
 * Sends the payloads with compensations that have nothing to undo, so that the business does not read them. If a
 * service refuses the list as well, it checks its payloads itself, and that tells nothing about its parser.
 */
async function checkEveryJson(trial: Trial): Promise<void> {
  const list = await trial.ask('compensation', trial.newBranch(), { payload: [] })
  if (list.statusCode !== SUCCESS) return
  const ids = trial.newBranch()
  const start = await trial.readFirst(ids)
  const { statusCode } = await trial.ask('compensation', ids, { payload: 'text' })
  const what = 'a compensation without its action whose payload is a JSON text'
  if (statusCode !== SUCCESS) {
    const advice = 'let the body parser take any JSON (express.json: strict: false)'
    throw new RuleBroken(
      'PAYLOAD_REFUSED',
      `${what} was answered ${statusCode}, and 200 with a list; ${advice}`,
    )
  }
  await mustHaveChanged(trial, { start, ids, expected: [NOTHING] }, { code: 'PAYLOAD_REFUSED', what })
}
