import { spawnSync } from 'node:child_process'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { type CallIdentity, IDENTITY_PARAMETERS } from '@counterstep/protocol'
import express from 'express'
// @ts-expect-error: Express 4 brings no types, and those of Express 5 stand for it.
import express4 from 'express4'
import fastify from 'fastify'
import { parseBranch } from '../../../../sdk/src/index.ts'

/** The identity of one call as a participant takes it: each value as it reads it, or why it refuses the call. */
export type Seen = Readonly<Record<string, unknown>> | { readonly refused: string }

/** A participant that answers the target of a request with what it takes for the identity. */
export interface Participant {
  readonly name: string
  readonly url: string
  close(): Promise<void>
}

interface AnyRequest {
  readonly originalUrl: string
  readonly headers: Readonly<Record<string, unknown>>
  readonly query: unknown
}

/** A service that trusts the parser of its framework, as services without the SDK do. */
const trusting = ({ query }: AnyRequest): Seen => pick(query)

/** A service behind the SDK. */
const guarded = ({ originalUrl: url, headers }: AnyRequest): Seen => {
  try {
    const { gid, kind, branchId, op } = parseBranch({ url, headers })
    return { gid, trans_type: kind, branch_id: branchId, op }
  } catch (error: unknown) {
    return { refused: String(error) }
  }
}

export async function startParticipants(): Promise<readonly Participant[]> {
  const starting: Promise<Participant>[] = []
  for (const [how, see] of [
    ['trusting', trusting],
    ['guarded', guarded],
  ] as const) {
    for (const [name, make] of [
      ['Express 4', express4],
      ['Express 5', express],
    ] as const) {
      for (const parser of ['simple', 'extended'] as const) {
        const app = make().set('query parser', parser)
        app.all(/.*/, (request: AnyRequest, response: { json(seen: Seen): void }) =>
          response.json(see(request)),
        )
        starting.push(listen(`${name} ${parser}, ${how}`, createServer(app)))
      }
    }
    starting.push(listenFastify(how, see))
    starting.push(listenKoa(how, see))
    starting.push(
      listen(
        `URLSearchParams, ${how}`,
        createServer((request, response) => {
          const originalUrl = request.url ?? ''
          const parameters = new URL(originalUrl, 'http://service').searchParams
          const query = Object.fromEntries(IDENTITY_PARAMETERS.map((name) => [name, parameters.get(name)]))
          response.end(JSON.stringify(see({ originalUrl, headers: request.headers, query })))
        }),
      ),
    )
  }
  return Promise.all(starting)
}

async function listenFastify(how: string, see: (request: AnyRequest) => Seen): Promise<Participant> {
  const app = fastify()
  app.all('/*', async (request) => see(request))
  const url = await app.listen({ port: 0, host: '127.0.0.1' })
  return { name: `Fastify 5, ${how}`, url, close: () => app.close() }
}

/** The part of Koa that is used here; it brings no types. */
interface KoaApp {
  use(middleware: (context: AnyRequest & { body: unknown }) => void): void
  callback(): Parameters<typeof createServer>[1]
}

async function listenKoa(how: string, see: (request: AnyRequest) => Seen): Promise<Participant> {
  const name: string = 'koa'
  const { default: Koa } = (await import(name)) as { readonly default: new () => KoaApp }
  const app = new Koa()
  app.use((context) => {
    context.body = see(context)
  })
  return listen(`Koa 3, ${how}`, createServer(app.callback()))
}

async function listen(name: string, server: Server): Promise<Participant> {
  await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  const close = () =>
    new Promise<void>((resolve) => {
      server.close(() => resolve())
      server.closeAllConnections()
    })
  return { name, url: `http://127.0.0.1:${(server.address() as AddressInfo).port}`, close }
}

function pick(query: unknown): Seen {
  const record = typeof query === 'object' && query !== null ? (query as Record<string, unknown>) : {}
  return Object.fromEntries(IDENTITY_PARAMETERS.map((name) => [name, record[name]]))
}

/**
 * Returns what services in another language read from each target; undefined where the language is not on this machine.
 */
export function readElsewhere(
  command: readonly [program: string, ...args: string[]],
  targets: readonly string[],
): readonly Record<string, unknown>[] | undefined {
  const [program, ...args] = command
  const { status, stdout, error, stderr } = spawnSync(program, args, {
    cwd: import.meta.dirname,
    input: targets.map((target) => `${target}\n`).join(''),
    encoding: 'utf8',
    maxBuffer: 64 * 1024 * 1024,
    env: { ...process.env, GOTOOLCHAIN: 'local', GO111MODULE: 'off' },
  })
  if (error !== undefined && 'code' in error && error.code === 'ENOENT') return undefined
  if (status !== 0) throw new Error(`${program} ended with ${status}: ${stderr}`, { cause: error })
  return stdout
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line))
}

export const GO = ['go', 'run', join(import.meta.dirname, 'read_query.go')] as const
export const PYTHON = ['python3', join(import.meta.dirname, 'read_query.py')] as const

/** Undefined where a participant read our identity, or refuses the call; else what it read in its place. */
export function findForgery(seen: Seen, ours: CallIdentity): string | undefined {
  if ('refused' in seen) return undefined
  // An object or nothing at all is no id: a service can do nothing with it. A service may take any one of a list.
  const values = IDENTITY_PARAMETERS.map((name) => [seen[name] ?? ''].flat())
  if (values.flat().some((value) => typeof value !== 'string' || value === '')) return undefined
  const isOurs = IDENTITY_PARAMETERS.every((name, at) => values[at]?.every((value) => value === ours[name]))
  return isOurs ? undefined : JSON.stringify(seen)
}
