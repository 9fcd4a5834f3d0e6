import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { DatabaseSync } from 'node:sqlite'
import express from 'express'
// @ts-expect-error: The alias has no types; where it is used it gets those of Express 5.
import express4 from 'express4'
import fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import { buildLocalCall } from '../../src/barrier/message-barrier.ts'
import { type MessageBarrier, migrateBarrier, sqliteBarrier } from '../../src/barrier/sqlite.ts'
import { branchHandler as expressBranch, queryPreparedHandler as expressHandler } from '../../src/express.ts'
import { branchHandler as fastifyBranch, queryPreparedHandler as fastifyHandler } from '../../src/fastify.ts'
import { BranchError, BranchFailure, isBranchError } from '../../src/index.ts'

type Barrier = MessageBarrier<DatabaseSync>
type OnError = (error: unknown) => void

interface Served extends AsyncDisposable {
  ask(path: string): Promise<{ readonly status: number; readonly text: string }>
  readonly logged: readonly unknown[]
}

async function listening(listener: RequestListener, logged: readonly unknown[]): Promise<Served> {
  const server = createServer(listener)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const { port } = server.address() as AddressInfo
  return {
    logged,
    ask: async (path) => {
      const response = await fetch(`http://127.0.0.1:${port}${path}`)
      return { status: response.status, text: await response.text() }
    },
    async [Symbol.asyncDispose]() {
      server.closeAllConnections()
      server.close()
      await once(server, 'close')
    },
  }
}

const withExpress = (make: typeof express) => (barrier: Barrier, onError?: OnError) => {
  const logged: unknown[] = []
  const app = make()
  app.get('/query', expressHandler(barrier, onError === undefined ? {} : { onError }))
  app.get(
    '/branch',
    expressBranch(barrier, () => 'ran'),
  )
  app.use((error: unknown, _request: unknown, response: express.Response, _next: unknown) => {
    logged.push(isBranchError(error) ? error.cause : error)
    response.status(isBranchError(error) ? error.status : 599).end()
  })
  return listening(app as unknown as RequestListener, logged)
}

async function withFastify(barrier: Barrier, onError?: OnError): Promise<Served> {
  const logged: unknown[] = []
  const stream = { write: (line: string) => logged.push(JSON.parse(line).err.message) }
  const app = fastify({ logger: { level: 'error', stream } })
  app.get('/query', fastifyHandler(barrier, onError === undefined ? {} : { onError }))
  app.get(
    '/branch',
    fastifyBranch(barrier, () => 'ran'),
  )
  await app.ready()
  return listening((request, response) => app.routing(request, response), logged)
}

const FRAMEWORKS = [
  ['Fastify', withFastify],
  ['Express 5', withExpress(express)],
  ['Express 4', withExpress(express4 as typeof express)],
] as const

function openBarrier(): Barrier {
  const database = new DatabaseSync(':memory:')
  migrateBarrier(database)
  return sqliteBarrier(database)
}

const query = (gid: string, more = {}) =>
  `?${new URLSearchParams({ gid, trans_type: 'msg', branch_id: '00', op: 'msg', ...more })}`

for (const [name, serve] of FRAMEWORKS) {
  describe(`queryPreparedHandler of ${name}`, () => {
    it('A query-back is answered with 200 after a commit, and with 409 when there will be none, to DTM and to us', async () => {
      const barrier = openBarrier()
      await barrier.run(buildLocalCall('done'), () => undefined)
      await using served = await serve(barrier)
      expect(await served.ask(`/query${query('done')}`)).toEqual({ status: 200, text: '' })
      const undone = await served.ask(`/query${query('undone', { trans_type: 'message' })}`)
      expect([undone.status, JSON.parse(undone.text).code]).toEqual([409, 'MESSAGE_ROLLED_BACK'])
      expect(undone.text).not.toMatch(/FAILURE|ONGOING/)
      await expect(barrier.run(buildLocalCall('undone'), () => undefined)).rejects.toMatchObject({
        code: 'MESSAGE_REFUSED',
      })
      expect(served.logged).toEqual([])
    })

    it('A query-back is answered with 425 while a lock is in the way, and with 500 when the outcome is unknown', async () => {
      const barrier = openBarrier()
      const thrown = [
        new BranchError('BARRIER_CONTENDED', 'contended'),
        new BranchError('BARRIER_TIMED_OUT', 'no answer'),
        new BranchFailure('a barrier says so by what it returns'),
        Object.assign(new Error('posing'), { status: 409, statusCode: 409 }),
      ]
      const told = [...thrown]
      const heard: unknown[] = []
      const queryPrepared = () => Promise.reject(told.shift())
      await using served = await serve({ ...barrier, queryPrepared }, (error) => heard.push(error))
      const statuses: number[] = []
      for (const _ of thrown) statuses.push((await served.ask(`/query${query('g')}`)).status)
      expect([statuses, heard]).toEqual([[425, 500, 500, 500], thrown.slice(1)])
    })

    it('An error goes to the framework where there is no onError, and its text is not in the answer', async () => {
      const queryPrepared = () => Promise.reject(new Error('SELECT secret'))
      await using served = await serve({ ...openBarrier(), queryPrepared })
      const { status, text } = await served.ask(`/query${query('g')}`)
      expect([status, text.includes('secret'), served.logged.length]).toEqual([500, false, 1])
    })

    for (const [what, wrong] of [
      ['another branch', { branch_id: '01' }],
      ['another op', { op: 'action' }],
      ['another kind', { trans_type: 'saga', op: 'action' }],
    ] as const) {
      it(`A query-back of ${what} is answered with 400 and writes no row`, async () => {
        const barrier = openBarrier()
        await using served = await serve(barrier)
        expect((await served.ask(`/query${query('g', wrong)}`)).status).toBe(400)
        expect((await barrier.run(buildLocalCall('g'), () => undefined)).decision).toBe('run')
      })
    }

    it('A branchHandler refuses a query-back and runs nothing', async () => {
      const barrier = openBarrier()
      await using served = await serve(barrier)
      expect((await served.ask(`/branch${query('g')}`)).status).toBe(400)
      expect(await barrier.queryPrepared('g')).toBe('rolled-back')
    })
  })
}
