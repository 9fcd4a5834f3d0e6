import { type Client, newGid, saga } from '@counterstep/sdk'
import type { FastifyInstance } from 'fastify'
import type { Pool } from 'undici'
import type { TransferPart } from './bank-services.ts'
import { type Column, SERVICES, type ServiceName } from './columns.ts'

const CENTS = 1
const WAIT_MS = 30_000
const HEADERS = { 'content-type': 'application/json' }

/** The services and connections that the gateway uses. */
export interface Backends {
  /** The services' own address: theirs in a saga as in a direct call. */
  readonly servicesUrl: string
  readonly services: Pool
  readonly twoWritesBaseline: Pool
  readonly client: Client
  /** The number in each of the bank's tables. */
  readonly accounts: number
}

/** Each transfer is of the next account n, to its counterpart. */
export function serveTransfers(app: FastifyInstance, backends: Backends, column: Column): void {
  const { accounts } = backends
  let transfers = 0
  const transfer = WAYS[column.calls]
  app.post(`/${column.name}`, async (_request, reply) => {
    const from = 1 + (transfers % accounts)
    transfers += 1
    const parts = {
      'trans-out': { account: from, cents: CENTS },
      'trans-in': { account: accounts + 1 - from, cents: CENTS },
    }
    const status = await transfer(backends, column, parts)
    return reply.header('content-type', 'application/json').send(`{"status":"${status}"}`)
  })
}

type Parts = Readonly<Record<ServiceName, TransferPart>>

const WAYS = { direct: callInTurn, baseline: askTwoWritesBaseline, saga: submitSaga } as const

async function callInTurn({ services }: Backends, { name }: Column, parts: Parts): Promise<string> {
  const gid = newGid()
  for (const [index, service] of SERVICES.entries()) {
    const path = `/${name}/${service}?gid=${gid}&branch_id=0${index + 1}`
    const body = JSON.stringify(parts[service])
    const answer = await services.request({ method: 'POST', path, headers: HEADERS, body })
    await answer.body.text()
    if (answer.statusCode !== 200) throw new Error(`${service} answered ${answer.statusCode}`)
  }
  return 'succeeded'
}

async function askTwoWritesBaseline(
  { servicesUrl, twoWritesBaseline }: Backends,
  { name }: Column,
  parts: Parts,
): Promise<string> {
  const branches = SERVICES.map((service) => ({
    id: service,
    action: `${servicesUrl}/${name}/${service}`,
    compensation: `${servicesUrl}/${name}/${service}`,
    payload: parts[service],
  }))
  const body = JSON.stringify({ branches })
  const answer = await twoWritesBaseline.request({ method: 'POST', path: '/sagas', headers: HEADERS, body })
  await answer.body.text()
  if (answer.statusCode !== 200) throw new Error(`the two-writes baseline answered ${answer.statusCode}`)
  return 'succeeded'
}

async function submitSaga(
  { servicesUrl, client }: Backends,
  { name }: Column,
  parts: Parts,
): Promise<string> {
  const toUrl = (service: ServiceName) => `${servicesUrl}/${name}/${service}`
  const transfer = SERVICES.reduce(
    (sum, service) =>
      sum.branch(service, {
        action: toUrl(service),
        compensation: toUrl(service),
        payload: { ...parts[service] },
      }),
    saga(),
  )
  const { status } = await client.submit(transfer, { waitMs: WAIT_MS })
  return status
}
