import { mkdtempSync, rmSync } from 'node:fs'
import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { findProgram } from '@counterstep/test-servers'
import { afterEach, beforeEach, describe, expect, it } from 'vitest'
import { Wrk } from '../../src/wrk/run-wrk.ts'

const BODY = '{"gid":"a]]b\\"","text":"ü\\n","again":"a]]b\\""}'

const program = await findProgram('wrk')

describe('wrk', () => {
  if (program.type === 'found') describeWrk(program.path)
  else it('The program wrk is installed', (context) => context.skip(program.reason))
})

function describeWrk(path: string): void {
  const bodies = new Set<string>()
  let status = 200
  let answered = 0
  let server: Server
  let folder: string
  let wrk: Wrk

  const makeJob = (unique?: string) => ({
    url: `http://127.0.0.1:${(server.address() as AddressInfo).port}/path`,
    headers: { 'content-type': 'application/json', prefer: 'wait=30' },
    body: BODY,
    ...(unique === undefined ? {} : { unique }),
    connections: 3,
    length: { type: 'time', warmUpSeconds: 0.1, seconds: 0.3 } as const,
    expectStatus: 200,
    expect: '',
  })

  beforeEach(async () => {
    folder = mkdtempSync(join(tmpdir(), 'bench-wrk-'))
    wrk = new Wrk(path, { folder })
    bodies.clear()
    answered = 0
    status = 200
    server = createServer((request, response) => {
      const chunks: Buffer[] = []
      request.on('data', (chunk) => chunks.push(chunk))
      request.on('end', () => {
        bodies.add(`${request.method} ${request.url} ${request.headers.prefer} ${Buffer.concat(chunks)}`)
        answered += 1
        response.writeHead(status).end('{}')
      })
    })
    await new Promise<void>((resolve) => server.listen(0, '127.0.0.1', resolve))
  })
  afterEach(async () => {
    await new Promise((resolve) => server.close(resolve))
    rmSync(folder, { recursive: true })
  })

  it('The program wrk sends the same request, byte for byte, and gets an answer to each', async () => {
    const result = await wrk.run(makeJob())
    expect([...bodies]).toEqual([`POST /path wait=30 ${BODY}`])
    expect(answered).toBeGreaterThan(3)
    expect(result?.answers).toBe(answered)
    expect(result?.answersPerSecond).toBeGreaterThan(0)
    const { p50 = 0, p99 = 0, max = 0 } = result?.latencyMs ?? {}
    expect(p50).toBeGreaterThan(0)
    expect(p99).toBeGreaterThanOrEqual(p50)
    expect(max).toBeGreaterThanOrEqual(p99)
  })

  it('The program wrk gives each request its own text where that is asked for', async () => {
    const result = await wrk.run(makeJob('a]]b'))
    expect(bodies.size).toBe(answered)
    for (const request of [1, answered])
      expect([...bodies].join('\n')).toContain(JSON.stringify(result?.toUnique(request)).slice(0, -1))
    for (const body of bodies) expect(body).toMatch(/"gid":"(a\]\]b-wrk1-\d+)\\.*"again":"\1\\/)
  })

  it('A run of wrk fails when an answer is an error', async () => {
    status = 500
    await expect(wrk.run(makeJob())).rejects.toThrow('not every answer was as expected')
  })
}
