/** DTM's Go client panics in its user's process when it gets JSON that is no workflow, so `prepareWorkflow` sends no JSON. */
import { createGate, readBearerOrBasicKey } from '@counterstep/access'
import type { EngineApi } from '@counterstep/engine'
import type { InjectOptions } from 'fastify'
import { describe, expect, it } from 'vitest'
import { buildDtmApp } from '../src/index.ts'
import type { TopicStore } from '../src/topics/topic-store.ts'

const PATH = '/api/dtmsvr/prepareWorkflow'
const WORKFLOW = { gid: 'g', trans_type: 'workflow', custom_data: '{"name":"wf"}', protocol: 'http' }
/** DTM's Go client reads the body in this way, with any status. */
const asGo = (body: string): unknown => JSON.parse(body)

async function ask(options: InjectOptions, keyless = true) {
  const keys = { find: () => undefined }
  const app = buildDtmApp({
    engine: { isStopping: false } as unknown as EngineApi,
    topics: {} as TopicStore,
    checkUrl: () => undefined,
    gate: createGate({ credentials: readBearerOrBasicKey, ...(keyless ? {} : { keys: keys as never }) }),
  })
  try {
    const { statusCode, headers, body } = await app.inject({ method: 'POST', url: PATH, ...options })
    return { status: statusCode, type: headers['content-type'], body }
  } finally {
    await app.close()
  }
}

describe('prepareWorkflow', () => {
  it('The path prepareWorkflow says in plain text that it is not there yet', async () => {
    const answer = await ask({ payload: JSON.stringify(WORKFLOW) })
    expect(answer).toEqual({
      status: 501,
      type: 'text/plain; charset=utf-8',
      body: 'error: workflows are not there yet: sagas, TCC, XA and two-phase messages over HTTP are',
    })
    expect(() => asGo(answer.body)).toThrow(SyntaxError)
  })

  const refused: readonly (readonly [string, number, InjectOptions, boolean])[] = [
    ['a call without a key', 401, { payload: '{}' }, false],
    ['a body that is too large', 413, { payload: 'x'.repeat(2 * 1024 * 1024) }, true],
    ['a page of another origin', 403, { payload: '{}', headers: { origin: 'http://evil.test' } }, true],
  ]
  for (const [what, status, options, keyless] of refused) {
    it(`The path prepareWorkflow refuses in plain text, too: ${what}`, async () => {
      const answer = await ask(options, keyless)
      expect([answer.status, answer.type]).toEqual([status, 'text/plain; charset=utf-8'])
      expect(() => asGo(answer.body)).toThrow(SyntaxError)
    })
  }
})
