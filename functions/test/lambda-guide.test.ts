import { execFile } from 'node:child_process'
import { createHash, createHmac } from 'node:crypto'
import { once } from 'node:events'
import { writeFileSync } from 'node:fs'
import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { promisify } from 'node:util'
import { targetPolicy } from '@counterstep/branch-http/targets'
import { readFunctionConfig } from '@counterstep/configuration'
import { Guide } from '@counterstep/test-servers/guide'
import { expect, it } from 'vitest'

const GUIDE = new Guide('deploy-lambda')
const TYPESCRIPT = join(import.meta.dirname, '../../node_modules/typescript/bin/tsc')
const COMPILE_MS_MAX = 120_000
const SECRET = 'the secret key'
const run = promisify(execFile)

/** Returns the policy for the targets that the functions of the guide's stack may call. */
function guidedTargets() {
  const services = /StoreTlsCa=\S+ Services=(\S+) \\/.exec(GUIDE.text)?.[1] ?? ''
  const read = readFunctionConfig('api', {
    COUNTERSTEP_STORE: 'mysql://counterstep@db.internal/counterstep',
    COUNTERSTEP_AUTHORIZER: 'iam',
    COUNTERSTEP_SERVICES: services,
  })
  if ('problems' in read) throw new Error(read.problems.join('\n'))
  return targetPolicy(read.config.targets)
}

it('Every branch of the Lambda guide is one that its own stack may call', () => {
  const targets = guidedTargets()
  const urls = [...GUIDE.text.matchAll(/"?(?:action|compensation)"?: ["']([^"']+)["']/g)].map(
    ([, url = '']) => url,
  )
  expect(urls.length).toBeGreaterThanOrEqual(8)
  expect(urls.filter((url) => targets.check(url) !== undefined)).toEqual([])
  // The guide says that this request is refused.
  expect(targets.check('https://bank.example/debit')).toBeDefined()
})

interface Arrived {
  readonly request: IncomingMessage
  readonly body: string
}

/** Computes the signature by the rules of AWS's Signature Version 4, from what has arrived. */
function signLikeAws({ request: { method, url = '', headers }, body }: Arrived): string {
  const [path = '', query = ''] = url.split('?')
  const names = /SignedHeaders=([^,]+)/.exec(headers.authorization ?? '')?.[1] ?? ''
  const date = String(headers['x-amz-date'])
  const day = date.slice(0, 8)
  const sha256 = (data: string) => createHash('sha256').update(data).digest('hex')
  const hmac = (key: string | Buffer, data: string) => createHmac('sha256', key).update(data).digest()
  const canonical = [
    method,
    encodeURIComponent(path).replaceAll('%2F', '/'),
    query.split('&').sort().join('&'),
    ...names.split(';').map((name) => `${name}:${String(headers[name]).trim()}`),
    '',
    names,
    sha256(body),
  ].join('\n')
  const scope = `${day}/eu-central-1/lambda/aws4_request`
  const toSign = ['AWS4-HMAC-SHA256', date, scope, sha256(canonical)].join('\n')
  const key = hmac(hmac(hmac(hmac(`AWS4${SECRET}`, day), 'eu-central-1'), 'lambda'), 'aws4_request')
  return createHmac('sha256', key).update(toSign).digest('hex')
}

it("The Lambda guide's signingFetch signs what the client sends, and the guide's transfer is submitted by it", async () => {
  const arrived: Arrived[] = []
  await using server = createServer(async (request, response) => {
    const body = await text(request)
    arrived.push({ request, body })
    const gid = body === '' ? 'a/b %' : JSON.parse(body).gid
    const view = { gid, status: 'succeeded', ack: 'durable', branches: [], items: [] }
    response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(view))
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const folder = GUIDE.writePrograms('signing-fetch.ts', 'transfer.ts')
  const program = join(folder, 'program.ts')
  writeFileSync(
    program,
    `import './transfer.ts'
import { createClient } from '@counterstep/sdk'
import { signingFetch } from './signing-fetch.ts'
const client = createClient({ url: process.env.URL ?? '', fetch: signingFetch })
await client.get('a/b %')
await client.page({ status: ['aborting', 'failed'], limit: 2 })
`,
  )
  const credentials = {
    AWS_REGION: 'eu-central-1',
    AWS_ACCESS_KEY_ID: 'AKIDEXAMPLE',
    AWS_SECRET_ACCESS_KEY: SECRET,
    AWS_SESSION_TOKEN: 'the session',
  }
  const { stdout } = await run(process.execPath, [program], { env: { ...credentials, URL: url } })
  expect(stdout).toBe('succeeded\n')
  expect(arrived.map(({ request }) => request.method)).toEqual(['POST', 'GET', 'GET'])
  expect(JSON.parse(arrived[0]?.body ?? '').branches[0]).toMatchObject({ action: 'bank:/debit' })
  for (const each of arrived) {
    const { authorization = '', ...headers } = each.request.headers
    expect(headers['x-amz-security-token']).toBe('the session')
    expect(authorization).toContain('Credential=AKIDEXAMPLE/')
    expect(/Signature=(.+)$/.exec(authorization)?.[1]).toBe(signLikeAws(each))
  }
})

it('The examples of the Lambda guide compile in strict mode', { timeout: COMPILE_MS_MAX }, async () => {
  const files = ['signing-fetch.ts', 'transfer.ts', 'bank-function.ts']
  const folder = GUIDE.writePrograms(...files)
  const compilerOptions = {
    ...{ module: 'nodenext', target: 'es2024', types: ['node'], strict: true, skipLibCheck: true },
    ...{ allowImportingTsExtensions: true, noEmit: true },
  }
  writeFileSync(join(folder, 'tsconfig.json'), JSON.stringify({ compilerOptions, files }))
  const args = [TYPESCRIPT, '--project', folder, '--checkers', '1']
  // The compiler prints its faults on its output.
  const told = await run(process.execPath, args).then(
    ({ stdout }) => stdout,
    (error: { readonly stdout: string }) => error.stdout,
  )
  expect(told).toBe('')
})
