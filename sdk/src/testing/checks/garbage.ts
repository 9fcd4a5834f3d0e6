import type { BranchCheckPlan } from '../branch-check.ts'
import { FAILURE, mustHaveChanged, SUCCESS } from '../expectations.ts'
import { NOTHING } from '../state-change.ts'
import { RuleBroken } from '../verdict.ts'

/** These are only the parts of the key, because a service may well ignore `trans_type`. */
const GARBAGE: readonly (readonly [what: string, change: (query: URLSearchParams) => void])[] = [
  ['no parameters', deleteAll],
  ['no gid', (query) => query.delete('gid')],
  ['no branch_id', (query) => query.delete('branch_id')],
  ['no op', (query) => query.delete('op')],
  ['an empty gid', (query) => query.set('gid', '')],
  ['two gids', (query) => query.append('gid', 'another')],
  ['an op that there is not', (query) => query.set('op', 'fly')],
]

function deleteAll(query: URLSearchParams): void {
  for (const name of [...query.keys()]) query.delete(name)
}

export const garbage: BranchCheckPlan = {
  name: 'garbage',
  // A service that swallows its errors answers 200 to these calls, too, so this check would find the same fault again.
  needs: ['broken-payload'],
  examine: async (trial) => {
    for (const role of ['action', 'compensation'] as const) {
      for (const [what, query] of GARBAGE) {
        const ids = trial.newBranch()
        const start = await trial.readFirst(ids)
        const { statusCode } = await trial.send(role, ids, { query })
        if (statusCode === SUCCESS || statusCode === FAILURE) {
          throw new RuleBroken(
            'GARBAGE_ANSWERED',
            `the URL of the ${role} with ${what} was answered ${statusCode}`,
          )
        }
        await mustHaveChanged(
          trial,
          { start, ids, expected: [NOTHING] },
          { code: 'GARBAGE_ANSWERED', what: `the URL of the ${role} with ${what}` },
        )
      }
    }
  },
}
