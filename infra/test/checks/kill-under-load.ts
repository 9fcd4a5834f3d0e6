import { type Saga, saga } from '@counterstep/sdk'
import type { Container } from '../image/container.ts'
import type { EmbeddedWorld } from './embedded-world.ts'

const TRANSFERS = 200
const KILLED_AFTER = 100
const CENTS = 7
const END_MS_MAX = 60_000

/** Kills the orchestrator while it accepts and runs transfers. All must succeed, and each must move its money once. */
export async function checkKill(world: EmbeddedWorld): Promise<string> {
  const before = await readCents(world)
  const { container } = await world.start()
  const transfers = Array.from({ length: TRANSFERS }, buildTransfer)
  let accepted = 0
  let restarting: ReturnType<typeof killAndRestart> | undefined
  // If the kill interrupts a submit, the client sends it again as the same transaction.
  await Promise.all(
    transfers.map(async (transfer) => {
      await world.client.submit(transfer)
      accepted += 1
      if (accepted === KILLED_AFTER) restarting = killAndRestart(world, container)
    }),
  )
  const again = await restarting
  if (again === undefined) throw new Error('it was not killed')
  for (const { gid } of transfers) {
    const { status } = await world.client.wait(gid, { timeoutMs: END_MS_MAX })
    if (status !== 'succeeded') throw new Error(`${gid} is ${status}`)
  }
  await again.container.signal('SIGTERM')
  await again.container.ended
  const [after, moved] = [await readCents(world), TRANSFERS * CENTS]
  if (after.alice !== before.alice - moved || after.bob !== before.bob + moved) {
    throw new Error(`${JSON.stringify(before)} became ${JSON.stringify(after)}; ${moved} should have moved`)
  }
  return `${TRANSFERS} transfers, killed after ${KILLED_AFTER}, ready again after ${Math.round(again.readyMs)} ms`
}

async function killAndRestart(
  world: EmbeddedWorld,
  container: Container,
): ReturnType<EmbeddedWorld['start']> {
  await container.signal('SIGKILL')
  await container.ended
  return await world.start()
}

function buildTransfer(): Saga {
  return saga()
    .branch('debit', {
      action: 'bank-a:/debit',
      compensation: 'bank-a:/debit-undo',
      payload: { account: 'alice', amountCents: CENTS },
    })
    .branch('credit', {
      action: 'bank-b:/credit',
      compensation: 'bank-b:/credit-undo',
      payload: { account: 'bob', amountCents: CENTS },
    })
}

interface Cents {
  readonly alice: number
  readonly bob: number
}

async function readCents({ bankUrls: [bankA, bankB] }: EmbeddedWorld): Promise<Cents> {
  return {
    alice: await readBalance(`${bankA}/accounts/alice`),
    bob: await readBalance(`${bankB}/accounts/bob`),
  }
}

async function readBalance(url: string): Promise<number> {
  const response = await fetch(url)
  const { balanceCents } = (await response.json()) as { readonly balanceCents: number }
  return balanceCents
}
