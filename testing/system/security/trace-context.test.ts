import { mkdtemp, readdir, readFile, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { openSqliteStore } from '@counterstep/store-sqlite'
import { describe, expect, it } from 'vitest'
import { type ApiRequest, type BothApis, openBothApis } from './both-apis.ts'

const TRACE = '0af7651916cd43dd8448eb211c80319c'
const PARENT = `00-${TRACE}-b7ad6b7169203331-01`
const STATE = 'vendor=kept'
const TARGET = 'http://127.0.0.1:9/a'

type Headers = NonNullable<ApiRequest['headers']>

/** Runs `use` on a new store, and returns all that is in its files afterwards. */
async function useStore(use: (apis: BothApis) => Promise<void>): Promise<string> {
  const folder = await mkdtemp(join(tmpdir(), 'counterstep-trace-'))
  try {
    const store = await openSqliteStore({ path: join(folder, 'a.db') })
    {
      await using apis = await openBothApis(store)
      await use(apis)
    }
    await store.close()
    const files = await Promise.all(
      (await readdir(folder)).map((file) => readFile(join(folder, file), 'latin1')),
    )
    return files.join('\n')
  } finally {
    await rm(folder, { recursive: true })
  }
}

function submit(apis: BothApis, body: object, headers: Headers) {
  return apis.send({ api: 'native', method: 'POST', url: '/v1/transactions', headers, body })
}

function submitByDtm(apis: BothApis, path: string, body: object, headers: Headers) {
  return apis.send({ api: 'dtm', method: 'POST', url: `/api/dtmsvr/${path}`, headers, body })
}

describe('the trace of a caller', () => {
  it('It goes with every call of a saga by either API, and GET shows its id', async () => {
    await useStore(async (apis) => {
      const headers = { traceparent: PARENT, tracestate: STATE }
      const native = await submit(
        apis,
        { gid: 'n', branches: [{ action: TARGET }, { action: TARGET }] },
        { ...headers, prefer: 'wait=10' },
      )
      expect([native.status, JSON.parse(native.body).traceId]).toEqual([200, TRACE])
      const steps = [{ action: TARGET, compensate: '' }]
      const saga = { gid: 'd', trans_type: 'saga', steps, payloads: ['{}'], wait_result: true }
      expect((await submitByDtm(apis, 'submit', saga, headers)).status).toBe(200)
      const trace = { parent: PARENT, state: STATE }
      expect(apis.calls.map((call) => call.trace)).toEqual([trace, trace, trace])
    })
  })

  it('A prepared message has that of its prepare', async () => {
    await useStore(async (apis) => {
      const steps = [{ action: TARGET }]
      const message = { gid: 'm', trans_type: 'msg', steps, payloads: ['{}'], query_prepared: TARGET }
      await submitByDtm(apis, 'prepare', message, { traceparent: PARENT })
      const other = PARENT.replace(TRACE, TRACE.replace('0', '1'))
      const submitted = await submitByDtm(
        apis,
        'submit',
        { ...message, wait_result: true },
        { traceparent: other },
      )
      expect(submitted.status).toBe(200)
      expect(apis.calls.map((call) => call.trace)).toEqual([{ parent: PARENT }])
    })
  })

  it('The same submit in another trace is the same transaction, which stays in its own', async () => {
    await useStore(async (apis) => {
      const body = { gid: 'same', branches: [{ action: TARGET }] }
      await submit(apis, body, { traceparent: PARENT, prefer: 'wait=10' })
      const again = await submit(apis, body, { prefer: 'wait=10' })
      expect([again.status, JSON.parse(again.body).traceId]).toEqual([200, TRACE])
      expect(apis.calls).toHaveLength(1)
    })
  })

  it('One that is not valid is not stored, and the transaction runs', async () => {
    const hostile = [
      { traceparent: 'secret-of-caller' },
      { traceparent: `${PARENT}-secret-of-caller` },
      { traceparent: PARENT.toUpperCase(), tracestate: 'secret-of-caller=1' },
      { traceparent: `ff${PARENT.slice(2)}`, tracestate: 'secret-of-caller=1' },
      { traceparent: PARENT, tracestate: 'secret-of-caller' },
      { traceparent: PARENT, tracestate: `a=1,secret-of-caller=${'v'.repeat(10_240)}` },
      { tracestate: 'secret-of-caller=1' },
    ]
    const dump = await useStore(async (apis) => {
      for (const headers of hostile) {
        const answer = await submit(
          apis,
          { branches: [{ action: TARGET }] },
          { ...headers, prefer: 'wait=10' },
        )
        expect(answer.status).toBe(200)
      }
      expect(apis.calls).toHaveLength(hostile.length)
      expect(JSON.stringify(apis.calls)).not.toContain('secret-of-caller')
    })
    expect(dump).toContain(PARENT)
    expect(dump).not.toContain('secret-of-caller')
  })
})
