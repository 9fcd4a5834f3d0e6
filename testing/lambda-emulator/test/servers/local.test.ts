import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { describeLambda } from '@counterstep/lambda-emulator/vitest'
import { Guide } from '@counterstep/test-servers/guide'
import { describeOn } from '@counterstep/test-servers/vitest'
import { expect, it, onTestFinished } from 'vitest'

const PROGRAM = join(import.meta.dirname, '../../src/local/main.ts')
const TEST_MS_MAX = 120_000

/** Reads the body of the guide's first saga. */
function readFirstSaga(): { readonly gid: string; readonly branches: readonly object[] } {
  const body = /\/v1\/transactions".*?-d '(\{[\s\S]*?\n\})'/.exec(new Guide('deploy-lambda').text)?.[1]
  if (body === undefined) throw new Error('the guide has no saga')
  return JSON.parse(body)
}

async function readUrl(program: ChildProcess): Promise<string> {
  if (program.stdout === null) throw new Error('it has no output')
  for await (const line of createInterface({ input: program.stdout })) {
    if (line.startsWith('URL=')) return line.slice('URL='.length)
  }
  throw new Error('it ended without a URL')
}

describeLambda('npm run lambda:local', () => {
  describeOn('elasticmq', 'with a queue', () => {
    describeOn('redis', 'on a store', () => {
      it('The command npm run lambda:local runs the first saga of the guide and one that is refused, and ends when it is told to', {
        timeout: TEST_MS_MAX,
      }, async () => {
        const program = spawn(process.execPath, [PROGRAM], { stdio: ['ignore', 'pipe', 'inherit'] })
        const ended = once(program, 'exit')
        onTestFinished(() => void program.kill('SIGKILL'))
        const url = await readUrl(program)
        const submit = async (saga: object) => {
          const headers = { 'content-type': 'application/json', prefer: 'wait=20' }
          const body = JSON.stringify(saga)
          const answer = await fetch(`${url}/v1/transactions`, { method: 'POST', headers, body })
          return answer.json()
        }
        const saga = readFirstSaga()
        expect(await submit(saga)).toMatchObject({ gid: saga.gid, status: 'succeeded' })
        const dear = saga.branches.map((branch) => ({ ...branch, payload: { cents: 10_001 } }))
        expect(await submit({ gid: 'dear', branches: dear })).toMatchObject({
          status: 'failed',
          abort: { branchId: 'debit', code: 'INSUFFICIENT_FUNDS' },
        })
        program.kill('SIGTERM')
        expect(await ended).toEqual([0, null])
      })
    })
  })
})
