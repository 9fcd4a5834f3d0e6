import { DatabaseSync } from 'node:sqlite'
import fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { type MessageBarrier, migrateBarrier, sqliteBarrier } from '../src/barrier/sqlite.ts'
import { queryPreparedHandler } from '../src/fastify.ts'
import { BranchError, BranchFailure, createClient, isUnavailable } from '../src/index.ts'
import { scriptedServer } from './scripted-server.ts'
import { callOver, FAILURE, SUCCESS, serve } from './served-server.ts'

const CHECK = { url: 'http://sender/query-prepared', afterMs: 60_000 }
const BRANCHES = [{ action: 'http://service/a', payload: { order: 17 } }, { action: 'http://service/b' }]

function createSender() {
  const database = new DatabaseSync(':memory:')
  migrateBarrier(database)
  database.exec('CREATE TABLE placed (gid TEXT)')
  return {
    barrier: sqliteBarrier(database),
    place: (gid: string) => (tx: DatabaseSync) => {
      tx.prepare('INSERT INTO placed VALUES (?)').run(gid)
      return { gid }
    },
    placed: (gid: string) =>
      Number(
        (database.prepare('SELECT count(*) AS n FROM placed WHERE gid = ?').get(gid) as { n: number }).n,
      ),
  }
}

/** Makes a barrier whose local transaction throws, before or after it has really committed. */
function breaking(barrier: MessageBarrier<DatabaseSync>, when: 'before' | 'after', error: Error) {
  const broken: MessageBarrier<DatabaseSync> = {
    queryPrepared: barrier.queryPrepared,
    run: async (call, effect) => {
      if (when === 'after') await barrier.run(call, effect)
      throw error
    },
  }
  return broken
}

describe('a plain reliable message', () => {
  it('A plain message is delivered branch by branch, and once however often it is submitted', async () => {
    await using server = await serve(() => SUCCESS)
    const message = server.client.message({ branches: BRANCHES })
    expect(await message.submit({ waitMs: 10_000 })).toMatchObject({ kind: 'message', status: 'succeeded' })
    expect((await message.submit()).status).toBe('succeeded')
    expect(server.calls).toEqual(['01 action', '02 action'])
  })
})

describe('doAndSubmit', () => {
  it('doAndSubmit commits the local transaction, delivers the message, and returns both answers', async () => {
    await using server = await serve(() => SUCCESS)
    const sender = createSender()
    const message = server.client.message({ branches: BRANCHES, check: CHECK })
    const done = await message.doAndSubmit(sender.barrier, sender.place(message.gid), { waitMs: 10_000 })
    expect(done.answer).toEqual({ gid: message.gid })
    expect(done.transaction.status).toBe('succeeded')
    expect([sender.placed(message.gid), server.calls]).toEqual([1, ['01 action', '02 action']])
    expect(await sender.barrier.queryPrepared(message.gid)).toBe('committed')
  })

  it('doAndSubmit aborts after a business failure, with its message, and throws it on', async () => {
    await using server = await serve(() => SUCCESS)
    const sender = createSender()
    const message = server.client.message({ branches: BRANCHES, check: CHECK })
    const failure = new BranchFailure('sold out', { code: 'SOLD_OUT' })
    const running = message.doAndSubmit(sender.barrier, () => {
      throw failure
    })
    await expect(running).rejects.toBe(failure)
    const abort = { cause: 'requested', reason: 'SOLD_OUT: sold out' }
    expect(await server.client.get(message.gid)).toMatchObject({ status: 'failed', abort })
    // The local transaction of another process that has the same message is refused, too.
    await expect(
      sender.barrier.run(
        { gid: message.gid, branchId: '00', op: 'msg', barrierId: '01' },
        sender.place(message.gid),
      ),
    ).rejects.toMatchObject({ code: 'MESSAGE_REFUSED' })
    expect([sender.placed(message.gid), server.calls]).toEqual([0, []])
  })

  it('doAndSubmit aborts after another error that rolled back, and keeps the text of the error to itself', async () => {
    await using server = await serve(() => SUCCESS)
    const sender = createSender()
    const message = server.client.message({ branches: BRANCHES, check: CHECK })
    const error = new Error('SELECT secret')
    const running = message.doAndSubmit(breaking(sender.barrier, 'before', error), sender.place(message.gid))
    await expect(running).rejects.toBe(error)
    const abort = { cause: 'requested', reason: 'an error of its sender' }
    expect(await server.client.get(message.gid)).toMatchObject({ status: 'failed', abort })
    expect(server.calls).toEqual([])
  })

  it('doAndSubmit submits after an error whose transaction committed all the same, and throws it on', async () => {
    await using server = await serve(() => SUCCESS)
    const sender = createSender()
    const message = server.client.message({ branches: BRANCHES, check: CHECK })
    const error = new BranchError('BARRIER_COMMIT_UNKNOWN', 'the answer to COMMIT was lost')
    const running = message.doAndSubmit(breaking(sender.barrier, 'after', error), sender.place(message.gid))
    await expect(running).rejects.toBe(error)
    expect((await server.client.wait(message.gid)).status).toBe('succeeded')
    expect([sender.placed(message.gid), server.calls]).toEqual([1, ['01 action', '02 action']])
  })

  it('doAndSubmit leaves an unknown outcome to the server, which asks and delivers', async () => {
    const sender = createSender()
    const service = fastify()
    service.get('/query-prepared', queryPreparedHandler(sender.barrier))
    const url = `${await service.listen({ port: 0, host: '127.0.0.1' })}/query-prepared`
    await using server = await serve((call) => (call.op === 'msg' ? callOver(call) : SUCCESS))
    const message = server.client.message({ branches: BRANCHES, check: { url, afterMs: 500 } })
    const error = new Error('the connection is gone')
    const unsettled: unknown[] = []
    const deaf: MessageBarrier<DatabaseSync> = {
      ...breaking(sender.barrier, 'after', error),
      queryPrepared: () => Promise.reject(new Error('the database is away')),
    }
    const running = message.doAndSubmit(deaf, sender.place(message.gid), {
      onUnsettled: (each) => unsettled.push(each),
    })
    await expect(running).rejects.toBe(error)
    expect(unsettled).toEqual([new Error('the database is away')])
    expect((await server.client.wait(message.gid)).status).toBe('succeeded')
    expect(server.calls).toEqual(['00 msg', '01 action', '02 action'])
    await service.close()
  })

  it('The server asks and drops the message of a doAndSubmit that died before its local transaction', async () => {
    const sender = createSender()
    const service = fastify()
    service.get('/query-prepared', queryPreparedHandler(sender.barrier))
    const url = `${await service.listen({ port: 0, host: '127.0.0.1' })}/query-prepared`
    await using server = await serve(callOver)
    const message = server.client.message({ branches: BRANCHES, check: { url, afterMs: 1 } })
    expect((await message.prepare()).status).toMatch(/prepared|failed/)
    const view = await server.client.wait(message.gid)
    expect(view).toMatchObject({ status: 'failed', abort: { cause: 'check-failed' } })
    // It comes too late, and must not commit.
    const late = message.doAndSubmit(sender.barrier, sender.place(message.gid))
    await expect(late).rejects.toMatchObject({ code: 'SAGA_NOT_PREPARED', meaning: 'failure' })
    expect([sender.placed(message.gid), server.calls]).toEqual([0, ['00 msg']])
    await service.close()
  })

  it('doAndSubmit runs nothing for a gid that has been used before', async () => {
    await using server = await serve(() => SUCCESS)
    const sender = createSender()
    const message = server.client.message({ gid: 'order-17', branches: BRANCHES, check: CHECK })
    await message.doAndSubmit(sender.barrier, sender.place('order-17'), { waitMs: 10_000 })
    const again = message.doAndSubmit(sender.barrier, sender.place('order-17'))
    await expect(again).rejects.toMatchObject({ code: 'SAGA_NOT_PREPARED' })
    const other = server.client.message({ gid: 'order-17', branches: [BRANCHES[1] as never], check: CHECK })
    await expect(other.doAndSubmit(sender.barrier, sender.place('order-17'))).rejects.toMatchObject({
      code: 'SAGA_GID_CONFLICT',
    })
    expect(sender.placed('order-17')).toBe(1)
  })

  it('Two calls of doAndSubmit at once for one message run one local transaction, and deliver once', async () => {
    await using server = await serve(() => SUCCESS)
    const sender = createSender()
    for (let round = 0; round < 50; round += 1) {
      const message = server.client.message({ branches: BRANCHES, check: CHECK })
      const run = () => message.doAndSubmit(sender.barrier, sender.place(message.gid))
      const ended = await Promise.allSettled([run(), run()])
      expect(ended.map(({ status }) => status).sort()).toEqual(['fulfilled', 'rejected'])
      expect((await server.client.wait(message.gid)).status).toBe('succeeded')
      expect(sender.placed(message.gid)).toBe(1)
    }
    expect(server.calls).toHaveLength(100)
  })

  it('When one of two calls at once fails, the message is delivered if and only if the other has committed', async () => {
    await using server = await serve(() => SUCCESS)
    const sender = createSender()
    const seen = new Set<string>()
    for (let round = 0; round < 50; round += 1) {
      const message = server.client.message({ branches: BRANCHES, check: CHECK })
      const failing = () =>
        message.doAndSubmit(sender.barrier, () => {
          throw new BranchFailure('sold out')
        })
      const placing = () => message.doAndSubmit(sender.barrier, sender.place(message.gid))
      await Promise.allSettled(round % 2 === 0 ? [failing(), placing()] : [placing(), failing()])
      const { status } = await server.client.wait(message.gid)
      expect(status).toBe(sender.placed(message.gid) === 1 ? 'succeeded' : 'failed')
      seen.add(status)
    }
    expect([...seen].sort()).toEqual(['failed', 'succeeded'])
  })

  it('doAndSubmit prepares nothing for an effect that its barrier could never run', async () => {
    await using server = await serve(() => SUCCESS)
    const message = server.client.message({ branches: BRANCHES, check: CHECK })
    await expect(message.doAndSubmit(createSender().barrier, async () => 1)).rejects.toThrow(TypeError)
    await expect(server.client.get(message.gid)).rejects.toMatchObject({ code: 'SAGA_UNKNOWN_GID' })
  })

  it('doAndSubmit prepares nothing for a waitMs out of its range', async () => {
    await using server = await serve(() => SUCCESS)
    const sender = createSender()
    const message = server.client.message({ branches: BRANCHES, check: CHECK })
    const running = message.doAndSubmit(sender.barrier, sender.place(message.gid), { waitMs: 60_001 })
    await expect(running).rejects.toThrow(RangeError)
    expect(sender.placed(message.gid)).toBe(0)
    await expect(server.client.get(message.gid)).rejects.toMatchObject({ code: 'SAGA_UNKNOWN_GID' })
  })

  it('doAndSubmit runs nothing when the prepare has no answer', async () => {
    await using server = await scriptedServer(['cut'])
    const sender = createSender()
    const message = createClient({ url: server.url, retryForMs: 0 }).message({
      branches: BRANCHES,
      check: CHECK,
    })
    const error = await message
      .doAndSubmit(sender.barrier, sender.place(message.gid))
      .catch((each: unknown) => each)
    expect(isUnavailable(error)).toBe(true)
    expect(sender.placed(message.gid)).toBe(0)
  })
})

describe('the steps of a two-phase message', () => {
  it('A message is prepared, and then submitted or aborted; each step may be repeated, and not be reversed', async () => {
    await using server = await serve(() => SUCCESS)
    const sent = server.client.message({ branches: BRANCHES, check: CHECK, concurrent: true })
    expect((await sent.prepare()).status).toBe('prepared')
    expect((await sent.prepare()).status).toBe('prepared')
    expect((await sent.submit({ waitMs: 10_000 })).status).toBe('succeeded')
    expect((await server.client.submitPrepared(sent.gid)).status).toBe('succeeded')
    await expect(sent.abort()).rejects.toMatchObject({ code: 'SAGA_ALREADY_FINAL' })

    const dropped = server.client.message({ branches: BRANCHES, check: CHECK })
    await dropped.prepare()
    const view = await dropped.abort({ reason: 'no longer wanted' })
    expect(view).toMatchObject({ status: 'failed', abort: { reason: 'no longer wanted' } })
    await expect(dropped.submit()).rejects.toMatchObject({ code: 'SAGA_NOT_PREPARED' })
    expect(server.calls).toHaveLength(2)
  })

  it('The submit of a message whose answer was lost is sent again', async () => {
    await using server = await serve(() => FAILURE)
    let attempts = 0
    const losing: typeof fetch = async (...request) => {
      const response = await fetch(...request)
      attempts += 1
      if (attempts % 2 === 0) return response
      await response.arrayBuffer()
      throw new TypeError('terminated')
    }
    const client = createClient({ url: server.url, fetch: losing })
    const message = client.message({ branches: BRANCHES, check: CHECK })
    expect((await message.submit()).status).toBe('submitted')
    expect(attempts).toBe(4)
  })
})
