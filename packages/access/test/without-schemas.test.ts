import { fastify } from 'fastify'
import { expect, it } from 'vitest'
import { WITHOUT_SCHEMAS } from '../src/without-schemas.ts'

const SCHEMA = { type: 'object' } as const

function buildApp() {
  return fastify({ schemaController: WITHOUT_SCHEMAS })
}

it('An app without schemas serves routes that have none', async () => {
  const app = buildApp()
  app.post('/', async ({ body }) => body)
  expect((await app.inject({ method: 'POST', url: '/', payload: { a: 1 } })).json()).toEqual({ a: 1 })
})

it.each([
  ['a body', { body: SCHEMA }],
  ['an answer', { response: { 200: SCHEMA } }],
])('The app does not become ready with a schema of %s', async (_, schema) => {
  const app = buildApp()
  app.post('/', { schema }, async () => ({}))
  await expect(app.ready()).rejects.toThrow('has a schema')
})
