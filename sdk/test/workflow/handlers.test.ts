import express from 'express'
// @ts-expect-error: The alias has no types; where it is used it gets those of Express 5.
import express4 from 'express4'
import fastify from 'fastify'
import { describe, expect, it } from 'vitest'
import * as ofExpress from '../../src/express.ts'
import * as ofFastify from '../../src/fastify.ts'
import { workflowHandler as fetchHandler } from '../../src/fetch.ts'
import { isBranchError, step } from '../../src/index.ts'
import { type Workflow, workflow } from '../../src/workflow/workflow.ts'
import { listening, PUBLIC_KEY, send, signedRequest } from '../http/signed-request.ts'
import { openShop, orderTwice, PLAN, STEP } from './shop.ts'

const BASE = 'https://shop.example'
const SIGNED = { keys: [PUBLIC_KEY], baseUrl: BASE }

interface Framework {
  readonly name: string
  /** Serves the workflows at /workflows behind the check of signatures, and returns the URL of the server. */
  serve(workflows: readonly Workflow<unknown, unknown>[], onError?: (error: unknown) => void): Promise<string>
}

const FASTIFY: Framework = {
  name: 'Fastify',
  serve: async (workflows, onError) => {
    const app = fastify()
    app.addHook('preParsing', ofFastify.signedCalls(SIGNED))
    app.post('/workflows', ofFastify.workflowHandler(workflows, onError && { onError }))
    await app.ready()
    return listening((request, response) => app.routing(request, response))
  },
}

function ofExpressVersion(name: string, make: typeof express): Framework {
  return {
    name,
    serve: async (workflows, onError) => {
      const app = make()
      app.set('env', 'test')
      app.use(ofExpress.signedCalls(SIGNED))
      app.use(make.json({ limit: '1mb', strict: false }))
      app.post('/workflows', ofExpress.workflowHandler(workflows, onError && { onError }))
      return listening(app)
    },
  }
}

const FETCH: Framework = {
  name: 'fetch',
  serve: async (workflows, onError) => {
    const answer = fetchHandler(workflows, { signedCalls: SIGNED, ...(onError && { onError }) })
    return listening(async (request, response) => {
      const chunks: Buffer[] = []
      for await (const chunk of request) chunks.push(chunk)
      const headers = Object.entries(request.headers).map(([name, value]) => [name, String(value)] as const)
      const init = { method: 'POST', headers: headers as [string, string][], body: Buffer.concat(chunks) }
      const thrown = (error: unknown) =>
        new Response(null, { status: isBranchError(error) ? error.status : 599 })
      const answered = await answer(new Request(`${BASE}${request.url}`, init)).catch(thrown)
      response.writeHead(answered.status, Object.fromEntries(answered.headers))
      response.end(await answered.text())
    })
  },
}

function sign(op: string, branchId: string, body: object) {
  const path = `/workflows?gid=order-17&trans_type=workflow&branch_id=${branchId}&op=${op}`
  return signedRequest(BASE, path, { body: JSON.stringify(body) })
}

for (const { name, serve } of [
  FASTIFY,
  ofExpressVersion('Express 5', express),
  ofExpressVersion('Express 4', express4 as typeof express),
  FETCH,
]) {
  describe(`workflowHandler of ${name}`, () => {
    it('It answers plans, steps and undos that are signed, and no others', async () => {
      const shop = openShop()
      const url = await serve([orderTwice(shop)])
      const plan = await send(url, sign('plan', '00', PLAN))
      expect([plan.status, JSON.parse(plan.text).next[0].branch.slot]).toEqual([200, '~1'])
      const step = { ...STEP, step: 'reserve', input: { sku: 'cup' } }
      const done = await send(url, sign('action', '~1', step))
      expect([done.status, done.text, done.headers['counterstep-barrier']]).toEqual([200, '{"id":1}', 'run'])
      const forged = { ...sign('compensate', '~1', step), body: JSON.stringify({ ...step, step: 'note' }) }
      expect((await send(url, forged)).status).toBe(401)
      expect((await send(url, { ...sign('compensate', '~1', step), headers: [] })).status).toBe(401)
      expect(shop.listReserved()).toEqual(['cup'])
      const undone = await send(url, sign('compensate', '~1', step))
      expect([undone.status, undone.text, shop.listReserved()]).toEqual([200, '', []])
    })

    it('A failing step is 409, and another error is 500 with a code and goes to onError', async () => {
      const heard: unknown[] = []
      const secret = Object.assign(new Error('SELECT secret'), { status: 409, statusCode: 409 })
      const shop = openShop()
      const broken = step('broken', {
        do: (_tx: unknown) => {
          throw secret
        },
      })
      const { barrier, reserve } = shop
      const order = workflow('order', { version: 1, barrier, steps: [reserve, broken] }, async () => 1)
      const url = await serve([order], (error) => heard.push(error))
      const failed = await send(
        url,
        sign('action', '~1', { ...STEP, step: 'reserve', input: { sku: 'none' } }),
      )
      expect([failed.status, failed.code, heard]).toEqual([409, 'SOLD_OUT', []])
      const thrown = await send(url, sign('action', '~2', { ...STEP, step: 'broken' }))
      expect([thrown.status, thrown.text]).toEqual([500, '{"code":"STEP_ERROR"}'])
      expect(heard).toMatchObject([{ code: 'STEP_ERROR', cause: secret }])
      const silent = await send(await serve([order]), sign('action', '~2', { ...STEP, step: 'broken' }))
      expect([silent.status, silent.text.includes('secret')]).toEqual([500, false])
    })

    it('A plan that is refused is answered, and whoever wrote the code hears why', async () => {
      const heard: unknown[] = []
      const { barrier, reserve } = openShop()
      const order = workflow('order', { version: 1, barrier, steps: [reserve] }, async () => {
        await new Promise((resolve) => setTimeout(resolve, 60_000).unref())
      })
      for (const onError of [(error: unknown) => void heard.push(error), undefined]) {
        const { status, text } = await send(await serve([order], onError), sign('plan', '00', PLAN))
        expect([status, JSON.parse(text).then]).toMatchObject([
          200,
          { refused: { code: 'WORKFLOW_RULE_BROKEN' } },
        ])
      }
      expect(heard).toMatchObject([{ name: 'WorkflowRefusedError', code: 'WORKFLOW_RULE_BROKEN' }])
    })

    it('The error of a promise that fails when its plan has been answered goes to onError', async () => {
      let fail = (_error: Error): void => undefined
      const order = workflow('order', { version: 1 }, async (ctx) => {
        const outside = new Promise<void>((_, reject) => {
          fail = reject
        })
        const read = outside.then(() => 1)
        await ctx.sleep('s', 1_000)
        return read
      })
      const late = new Promise<unknown>((resolve) => {
        void serve([order], resolve).then(async (url) => {
          expect((await send(url, sign('plan', '00', { ...PLAN, version: 1 }))).status).toBe(200)
          fail(new Error('too late'))
        })
      })
      expect(await late).toMatchObject({ code: 'STEP_ERROR', cause: { message: 'too late' } })
    })

    it('A list that cannot be served is refused at construction', async () => {
      await expect(serve([])).rejects.toThrow('at least one workflow')
    })
  })
}
