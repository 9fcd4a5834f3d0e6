import { execFile } from 'node:child_process'
import { generateKeyPairSync } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type CallToSign, callSigner, parseSigningKey } from '@counterstep/signature'
import { Guide } from '@counterstep/test-servers/guide'
import { describeOn } from '@counterstep/test-servers/vitest'
import { createConnection, type RowDataPacket } from 'mysql2/promise'
import { expect, it, onTestFinished } from 'vitest'
import { buildHttpEvent } from '../support/lambda-context.ts'
import { createOwnStore } from './support/own-store.ts'

const BASE_URL = 'https://id.lambda-url.eu-central-1.on.aws'
const PASSWORD = 'the-password-of-this-test'

/** Makes the barrier's table, then gives each event to the function and prints the answers. */
const PROGRAM = `
import { migrateBarrier } from '@counterstep/sdk/barrier/mysql'
import { createPool } from 'mysql2/promise'
import { handler } from './bank-function.ts'
const pool = createPool({ uri: process.env.DATABASE_URL })
await migrateBarrier(pool)
const answers = []
for (const event of JSON.parse(process.argv[2])) answers.push(await handler(event))
console.log(JSON.stringify(answers))
process.exit(0)
`

const { privateKey, publicKey } = generateKeyPairSync('ed25519')
const signer = callSigner(
  () => KEY,
  () => Date.now(),
)
const KEY = parseSigningKey(privateKey.export({ type: 'pkcs8', format: 'pem' }).toString())

/** Makes a call of an orchestrator, as a Function URL hands it over. */
function makeCall(gid: string, op: string, cents: number, isSigned = true): object {
  const path = op === 'action' ? '/debit' : '/debit/undo'
  const query = `gid=${gid}&trans_type=saga&branch_id=debit&op=${op}`
  const payload = { account: 'alice', cents }
  const call: CallToSign = {
    method: 'POST',
    targetUri: `${BASE_URL}${path}?${query}`,
    contentType: 'application/json',
    attempt: '1',
    epoch: '1',
    acceptedAt: String(Date.now()),
    ...{ gid, branchId: 'debit', op, kind: 'saga' },
    body: JSON.stringify(payload),
  }
  const flat = isSigned ? signer.sign(call) : []
  const signature = flat.flatMap((name, at) => (at % 2 === 0 ? [[name.toLowerCase(), flat[at + 1]]] : []))
  const headers = {
    'counterstep-attempt': call.attempt,
    'counterstep-epoch': call.epoch,
    'counterstep-accepted-at': call.acceptedAt,
    'counterstep-gid': gid,
    'counterstep-branch-id': 'debit',
    'counterstep-op': op,
    'counterstep-kind': 'saga',
    ...Object.fromEntries(signature),
  }
  return buildHttpEvent('POST', path, { headers, query, body: payload })
}

describeOn('mariadb', 'the participant of the guide', (serverUrl) => {
  it("The guide's participant serves signed calls behind its barrier, and refuses others", async () => {
    const store = await createOwnStore(serverUrl, PASSWORD)
    onTestFinished(() => store.drop())
    const url = new URL(store.url)
    url.password = PASSWORD
    const connection = await createConnection(url.href)
    onTestFinished(() => connection.end())
    await connection.query('CREATE TABLE account (id VARCHAR(32) PRIMARY KEY, cents BIGINT NOT NULL)')
    await connection.query("INSERT INTO account VALUES ('alice', 1000)")
    const folder = new Guide('deploy-lambda').writePrograms('bank-function.ts')
    const program = join(folder, 'program.ts')
    writeFileSync(program, PROGRAM)
    const events = [
      makeCall('g-1', 'action', 400),
      makeCall('g-1', 'action', 400),
      makeCall('g-2', 'action', 5_000),
      makeCall('g-1', 'compensate', 400),
      makeCall('g-3', 'action', 1, false),
      buildHttpEvent('POST', '/elsewhere'),
    ]
    const env = {
      ...process.env,
      DATABASE_URL: url.href,
      BASE_URL,
      COUNTERSTEP_PUBLIC_KEY: publicKey.export({ type: 'spki', format: 'pem' }).toString(),
    }
    const { stdout } = await promisify(execFile)(process.execPath, [program, JSON.stringify(events)], { env })
    const answers: readonly { readonly statusCode: number; readonly body: string }[] = JSON.parse(stdout)
    expect(answers.map(({ statusCode }) => statusCode)).toEqual([200, 200, 409, 200, 401, 404])
    expect(JSON.parse(answers[2]?.body ?? '')).toEqual({
      code: 'INSUFFICIENT_FUNDS',
      message: 'not enough money',
    })
    const [rows] = await connection.query<RowDataPacket[]>('SELECT cents FROM account')
    expect(rows).toEqual([{ cents: 1000 }])
  })
})
