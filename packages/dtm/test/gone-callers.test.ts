/** A caller of `wait_result` whose connection has closed keeps no place among those that wait. */
import { expect, it, vi } from 'vitest'
import { type DtmFixture, openDtmFixture } from './support/dtm-fixture.ts'
import { saga, tcc, tccBranch } from './support/requests.ts'

/** The service answers later than this test has time, and its caller would wait for a minute. */
const SLOW = { delayMs: 30_000 }
const WAITS = { wait_result: true, request_timeout: 600 }
const GONE_MS_MAX = 15_000

it('A caller that has gone before its abort is decided does not wait at all', async () => {
  await using dtm = await openDtmFixture()
  const body = await prepareTcc(dtm, '/cancel01')
  const { app, engine } = dtm.node
  const origin = await app.listen({ host: '127.0.0.1', port: 0 })
  const closed = new Promise<void>((resolve) => {
    app.server.once('request', (_request, response) => response.once('close', resolve))
  })
  const read = engine.read.bind(engine)
  const reading = vi.spyOn(engine, 'read').mockImplementation(async (...args) => {
    await closed
    return read(...args)
  })
  const aborted = vi.spyOn(engine, 'abort')
  const leaving = new AbortController()
  const asking = fetch(`${origin}/api/dtmsvr/abort`, {
    method: 'POST',
    body: JSON.stringify(body),
    signal: leaving.signal,
  })
  await vi.waitFor(() => expect(reading).toHaveBeenCalled())
  const leftAt = performance.now()
  leaving.abort()
  await expect(asking).rejects.toThrow()
  await vi.waitFor(() => expect(aborted.mock.results).toHaveLength(1))
  expect(await aborted.mock.results[0]?.value).toMatchObject({ gid: 'g' })
  expect(performance.now() - leftAt).toBeLessThan(GONE_MS_MAX)
})

const COMMANDS: readonly (readonly [
  string,
  'accept' | 'submitPrepared' | 'abort',
  number,
  string,
  Prepare,
])[] = [
  ['a saga', 'accept', 1, 'submit', async ({ play }) => saga('g', play({ '/a1': [SLOW] }), 1, WAITS)],
  [
    'the same saga once more',
    'accept',
    2,
    'submit',
    async ({ node, play }) => {
      const branches = play({ '/a1': [SLOW] })
      await node.post('submit', saga('g', branches, 1, { ...WAITS, wait_result: false }))
      return saga('g', branches, 1, WAITS)
    },
  ],
  ['a TCC', 'submitPrepared', 1, 'submit', (dtm) => prepareTcc(dtm, '/confirm01')],
  ['the abort of a TCC', 'abort', 1, 'abort', (dtm) => prepareTcc(dtm, '/cancel01')],
]

type Prepare = (dtm: DtmFixture) => Promise<object>

async function prepareTcc({ node, play }: DtmFixture, slowPath: string): Promise<object> {
  await node.post('prepare', tcc('g', WAITS))
  await node.post('registerBranch', tccBranch('g', play({ [slowPath]: [SLOW] }), '01'))
  return tcc('g', WAITS)
}

it.each(COMMANDS)(
  'A caller that has gone waits no longer for %s',
  async (_what, method, count, path, prepare) => {
    await using dtm = await openDtmFixture()
    const body = await prepare(dtm)
    const { app, engine } = dtm.node
    const origin = await app.listen({ host: '127.0.0.1', port: 0 })
    const given = vi.spyOn(engine, method)
    const leaving = new AbortController()
    const asking = fetch(`${origin}/api/dtmsvr/${path}`, {
      method: 'POST',
      body: JSON.stringify(body),
      signal: leaving.signal,
    })
    asking.catch(() => undefined)
    // The first look for a saga that is there finds its gid taken.
    await vi.waitFor(() => expect(given.mock.results).toHaveLength(count))
    const waiting = given.mock.results.at(-1)
    const leftAt = performance.now()
    leaving.abort()
    await expect(asking).rejects.toThrow()
    expect(await waiting?.value).toMatchObject({ gid: 'g' })
    expect(performance.now() - leftAt).toBeLessThan(GONE_MS_MAX)
  },
)
