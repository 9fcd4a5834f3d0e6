/**
 * Serves one plan call of two steps that commit, in a process of its own: aimed-death-fixture.ts FILE POINT COMMITS. It prints what
 * it has done, as far as it has come.
 */
import { writeSync } from 'node:fs'
import type { Barrier } from '@counterstep/sdk'
import { AimedDeath, DEATH_POINTS } from '../src/bank/service/aimed-death.ts'

const [file = '', given, commits = '1'] = process.argv.slice(2)
const point = DEATH_POINTS.find((each) => each === given)
const death = new AimedDeath(file)
const barrier: Barrier<undefined> = death.watchBarrier({
  async run(call) {
    say(`committed ${call.branchId}`)
    return { decision: call.branchId === '~1' ? 'duplicate' : 'run' }
  },
})
if (point !== undefined) death.arm({ point, commits: Number(commits) })

await serve('action', ['~1', '~2', '~3'])
await serve('plan', ['~1', '~2', '~3'])

async function serve(op: string, slots: readonly string[]): Promise<void> {
  await death.watchCall(`/workflows?gid=order&op=${op}`, async () => {
    for (const branchId of slots) await barrier.run({ gid: 'order', branchId, op: 'action' }, () => undefined)
    death.beforeAnswer()
    say(`answered ${op}`)
  })
}

/** Each word is out before the next thing is done. */
function say(text: string): void {
  writeSync(1, `${text}\n`)
}
