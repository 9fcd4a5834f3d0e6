import { setTimeout } from 'node:timers/promises'
import { type CounterstepError, createClient, isUnavailable, saga } from '@counterstep/sdk'
import { describe, expect, it } from 'vitest'
import { catchError } from './catch-error.ts'
import { closedUrl } from './closed-url.ts'
import { problem, type Reply, scriptedServer } from './scripted-server.ts'

const transfer = saga({ gid: 'g' }).branch('a', { action: 'http://bank/a' })
const GATEWAY: Reply = { status: 502, body: 'bad gateway' }
const refused = problem(422, 'SAGA_TARGET_REFUSED')
const conflict = problem(409, 'SAGA_GID_CONFLICT')
const notAccepted = problem(503, 'SAGA_NOT_ACCEPTED')
const unknown = problem(503, 'SAGA_OUTCOME_UNKNOWN')

describe('the outcome of a submit whose attempts are answered differently', () => {
  it.each([
    ['a refusal alone', [refused], 'failure SAGA_TARGET_REFUSED'],
    ['nothing stored, each time', [notAccepted], 'unavailable SAGA_NOT_ACCEPTED'],
    ['nothing stored, then a refusal', [notAccepted, refused], 'failure SAGA_TARGET_REFUSED'],
    ['a lost answer, then a refusal', ['cut', refused], 'unavailable SAGA_OUTCOME_UNKNOWN'],
    ['a proxy that gives up, then a refusal', [GATEWAY, refused], 'unavailable SAGA_OUTCOME_UNKNOWN'],
    ['an unknown outcome, then a refusal', [unknown, refused], 'unavailable SAGA_OUTCOME_UNKNOWN'],
    ['a lost answer, then nothing stored', ['cut', notAccepted], 'unavailable SAGA_OUTCOME_UNKNOWN'],
    ['a lost answer, then other content', ['cut', conflict], 'failure SAGA_GID_CONFLICT'],
    [
      'a lost answer, nothing stored, a refusal',
      ['cut', notAccepted, refused],
      'unavailable SAGA_OUTCOME_UNKNOWN',
    ],
  ] as const)('%s', async (_what, replies, told) => {
    await using server = await scriptedServer(replies)
    const client = createClient({ url: server.url, retryForMs: 2_000 })
    const error = (await catchError(client.submit(transfer))) as CounterstepError
    expect(`${error.meaning} ${error.code}`).toBe(told)
    expect(error.gid).toBe('g')
    if (error.code === 'SAGA_OUTCOME_UNKNOWN')
      expect(error.cause).toMatchObject({
        code: expect.stringMatching(/^SAGA_(TARGET_REFUSED|NOT_ACCEPTED)$/),
      })
  })

  it('A server that cannot be connected to has stored nothing', async () => {
    await using server = await scriptedServer([refused])
    const client = createClient({ url: [await closedUrl(), server.url], retryForMs: 2_000 })
    const error = (await catchError(client.submit(transfer))) as CounterstepError
    expect([error.code, isUnavailable(error)]).toEqual(['SAGA_TARGET_REFUSED', false])
  })

  it('A later success is the outcome', async () => {
    const view = {
      gid: 'g',
      kind: 'saga',
      status: 'running',
      createdAt: 1,
      updatedAt: 1,
      epoch: 1,
      branches: [],
    }
    await using server = await scriptedServer(['cut', notAccepted, { status: 202, body: view }])
    const client = createClient({ url: server.url, retryForMs: 5_000 })
    expect(await client.submit(transfer)).toMatchObject({ gid: 'g', status: 'running' })
  })
})

describe('the outcome of a command whose attempts are answered differently', () => {
  const unauthorized = problem(401, 'SAGA_UNAUTHORIZED')
  const absent = problem(404, 'SAGA_UNKNOWN_GID')
  const decided = problem(409, 'SAGA_NOT_PREPARED')
  type Client = ReturnType<typeof createClient>
  const commands: readonly (readonly [string, (client: Client) => Promise<unknown>])[] = [
    ['submitPrepared', (client) => client.submitPrepared('g')],
    ['abort', (client) => client.abort('g')],
    ['signal', (client) => client.signal('g', 'go')],
  ]
  const cases = [
    ['a refusal alone', [unauthorized], 'failure SAGA_UNAUTHORIZED'],
    [
      'a lost answer, then a server with other keys',
      ['cut', unauthorized],
      'unavailable SAGA_OUTCOME_UNKNOWN',
    ],
    ['a proxy that gives up, then an older store', [GATEWAY, absent], 'unavailable SAGA_OUTCOME_UNKNOWN'],
    ['a lost answer, then what speaks of its state', ['cut', decided], 'failure SAGA_NOT_PREPARED'],
  ] as const

  for (const [command, give] of commands)
    it.each(cases)(`${command}: %s`, async (_what, replies, told) => {
      await using server = await scriptedServer(replies)
      const client = createClient({ url: server.url, retryForMs: 2_000 })
      const error = (await catchError(give(client))) as CounterstepError
      expect(`${error.meaning} ${error.code}`).toBe(told)
    })

  it('The outcome of a TCC is open if it may be confirmed', async () => {
    const view = { gid: 'g', kind: 'tcc', createdAt: 1, updatedAt: 1, epoch: 1, branches: [] }
    await using server = await scriptedServer([
      { status: 202, body: { ...view, status: 'prepared' } },
      'cut',
      unauthorized,
    ])
    const client = createClient({ url: server.url, retryForMs: 2_000 })
    const error = (await catchError(client.runTcc({ gid: 'g' }, () => 1))) as CounterstepError
    expect(`${error.meaning} ${error.code}`).toBe('unavailable SAGA_OUTCOME_UNKNOWN')
  })

  it('An onUnsettled that is an async function is waited for', async () => {
    const view = { gid: 'g', kind: 'tcc', createdAt: 1, updatedAt: 1, epoch: 1, branches: [] }
    await using server = await scriptedServer([
      { status: 202, body: { ...view, status: 'prepared' } },
      unauthorized,
    ])
    const client = createClient({ url: server.url, retryForMs: 0 })
    let isTold = false
    const onUnsettled = async (): Promise<void> => {
      await setTimeout(20)
      isTold = true
    }
    const running = client.runTcc(
      { gid: 'g' },
      () => {
        throw new Error('no room')
      },
      { onUnsettled },
    )
    await expect(running).rejects.toThrow('no room')
    expect(isTold).toBe(true)
  })
})
