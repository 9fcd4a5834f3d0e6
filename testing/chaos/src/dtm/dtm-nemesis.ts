import type { OwnProcess } from '../bank/processes/own-process.ts'
import type { SeededRandom } from '../bank/seeded-random.ts'
import type { DtmFixture } from './dtm-fixture.ts'
import type { DtmKills } from './dtm-result.ts'
import { DEATH_POINTS } from './service/ordered-death.ts'

/** The share of kills of the participants that wait for no point. */
const ANYWHERE = 0.25
/** A point that no call gets to, such as one of XA when only workflows are left, is not waited for any longer. */
const POINT_MS_MAX = 2_000

/** Kills one server. Returns its process, which is to be started again. */
export async function killServer(
  { servers }: DtmFixture,
  random: SeededRandom,
  kills: DtmKills,
): Promise<OwnProcess> {
  const { process } = random.pick(servers)
  await process.kill()
  kills.servers += 1
  return process
}

/** Lets the participants' process die, mostly at a point that is drawn. Returns it, to be started again. */
export async function killParticipants(
  { participants }: DtmFixture,
  random: SeededRandom,
  kills: DtmKills,
): Promise<OwnProcess> {
  const { process, orderDeath } = participants
  const point = random.chance(ANYWHERE) ? undefined : random.pick(DEATH_POINTS)
  if (point !== undefined) await orderDeath(point)
  if (point !== undefined && (await process.untilEnded(POINT_MS_MAX))) kills.atPoint += 1
  else kills.anywhere += 1
  await killRunning(process)
  return process
}

/** A process that has just ended by itself takes no signal. */
async function killRunning(process: OwnProcess): Promise<void> {
  if (!process.isRunning) return
  try {
    await process.kill()
  } catch (error: unknown) {
    if (process.isRunning) throw error
  }
}
