import { mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { type BankOptions, buildBank } from '@counterstep/example-bank'
import type { Op } from '@counterstep/sdk'
import type { FastifyInstance } from 'fastify'
import { onTestFinished } from 'vitest'

export interface TestBank {
  readonly app: FastifyInstance
  readonly path: string
}

/** A bank on a file of its own, both gone when the test ends. */
export function testBank(options: Partial<BankOptions> = {}): TestBank {
  const path = options.path ?? temporaryFile()
  const app = buildBank({ durability: 'normal', ...options, path })
  onTestFinished(() => app.close())
  return { app, path }
}

export function temporaryFile(): string {
  const folder = mkdtempSync(join(tmpdir(), 'counterstep-bank-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  return join(folder, 'bank.sqlite')
}

export interface CallOptions {
  readonly gid?: string
  readonly op?: Op
  readonly account?: string
  readonly amountCents?: number
  readonly slowMs?: number
  readonly attempt?: number
  /** Default: the one that the op belongs to. */
  readonly path?: string
  readonly acceptedAt?: number
}

const UNDO_OPS: readonly Op[] = ['compensate', 'cancel']
const SAGA_OPS: readonly Op[] = ['action', 'compensate']

/** One branch call; the path follows from the op: a debit, or its undo. */
export async function debit(
  { app }: TestBank,
  {
    gid = 'gid-1',
    op = 'action',
    account = 'alice',
    amountCents = 100,
    slowMs = 0,
    attempt = 1,
    path = UNDO_OPS.includes(op) ? '/debit-undo' : '/debit',
    acceptedAt,
  }: CallOptions = {},
): Promise<{ status: number; body: Record<string, unknown> }> {
  const response = await app.inject({
    method: 'POST',
    url: path,
    query: { gid, trans_type: SAGA_OPS.includes(op) ? 'saga' : 'tcc', branch_id: '01', op },
    headers: {
      'counterstep-attempt': String(attempt),
      'counterstep-epoch': '0',
      ...(acceptedAt === undefined ? {} : { 'counterstep-accepted-at': String(acceptedAt) }),
    },
    payload: { account, amountCents, slowMs },
  })
  return { status: response.statusCode, body: response.json() }
}

export async function readBalance({ app }: TestBank, account = 'alice'): Promise<number> {
  const response = await app.inject(`/accounts/${account}`)
  return response.json<{ balanceCents: number }>().balanceCents
}
