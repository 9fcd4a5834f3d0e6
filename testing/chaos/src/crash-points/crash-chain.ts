import { setTimeout as sleep } from 'node:timers/promises'
import { isFinalStatus } from '@counterstep/protocol'
import { SecretWatch } from '@counterstep/test-servers/secret-watch'
import { until } from '@counterstep/test-servers/until'
import type { BankLedger } from './bank-ledger.ts'
import type { Hit } from './node-messages.ts'
import type { Point } from './points.ts'
import { NodeGoneError, ResumingClient } from './resuming-client.ts'
import { type Participants, Scenario } from './scenario.ts'
import { StartedNode } from './started-node.ts'

/** All that a scenario waits for is well under a second, so this only tells stuck from slow (L1). */
const FINAL_MS_MAX = 60_000
/** A recovery that has not passed its point by then will not. */
const RECOVERY_MS_MAX = 3_000
/** A death at this point leaves something to recover: calls under way and answers unsaved. */
const BEFORE_RECOVERY: Hit = { point: 'call-after', nth: 6 }

/** One kill: during a scenario, or while a node recovers from the kill before. */
export interface CrashCase {
  readonly hit: Hit
  readonly during: 'scenario' | 'recovery'
}

export interface ChainParts {
  readonly name: string
  /** The store's file, in a folder of its own beside those of other chains. */
  readonly path: string
  /** The mutant of the first node only: the nodes after it show what it has done. */
  readonly mutant?: 'forgetful'
  /** The node's module. */
  readonly program: string
  readonly participants: Participants
  /** The bank's file, if its routes are functions of the node itself. */
  readonly ownBank?: string
  readonly ledger: BankLedger
}

/**
 * Kill after kill on one file. The node that is started after a kill is told to die only when it has brought to an end,
 * and the audit has found right, all that the kill left behind: so each kill has its restart without a crash, for the
 * price of one start.
 */
export class CrashChain {
  readonly killed: CrashCase[] = []
  /** The point was not passed so often, so nothing was killed. */
  readonly missed: CrashCase[] = []
  readonly #parts: ChainParts
  readonly #watch = new SecretWatch()
  readonly #client = new ResumingClient(this.#watch)
  readonly #faults: string[] = []
  #node: StartedNode | undefined
  #scenarios = 0

  constructor(parts: ChainParts) {
    this.#parts = parts
  }

  get faults(): readonly string[] {
    const shown = this.#watch.shown.map((where) => `S28: ${where}`)
    return [...this.#faults, ...this.#client.faults, ...shown]
  }

  async run(cases: readonly CrashCase[]): Promise<void> {
    for (const crashCase of cases) await this.#run(crashCase)
    await this.#end()
  }

  /** How often a scenario passes each point when nothing is killed. */
  async count(): Promise<Readonly<Record<Point, number>>> {
    const scenario = this.#nextScenario()
    const node = await this.#living([])
    await this.#playToTheEnd(node, scenario, scenario.play())
    await this.#audit(node, scenario)
    const counts = await node.disarm()
    await this.#end()
    if (counts === undefined) throw new Error('the node is gone')
    return counts
  }

  async #run(crashCase: CrashCase): Promise<void> {
    const { hit, during } = crashCase
    const scenario = this.#nextScenario()
    const node = await this.#living([])
    await node.arm(during === 'scenario' ? hit : BEFORE_RECOVERY)
    const playing = scenario.play()
    const ended = await Promise.race([node.gone, this.#playToTheEnd(node, scenario, playing)])
    await this.#end()
    const died = during === 'scenario' ? ended === 'SIGKILL' : await this.#dieInRecovery(hit)
    if (died) this.killed.push(crashCase)
    else this.missed.push(crashCase)
    const next = await this.#living(scenario.gids)
    await playing
    await this.#audit(next, scenario)
  }

  async #playToTheEnd(node: StartedNode, scenario: Scenario, playing: Promise<void>): Promise<string> {
    try {
      await playing
      await node.maintain()
      await this.#waitForFinal(node, scenario)
      return 'played'
    } catch (error: unknown) {
      if (error instanceof NodeGoneError) return await node.gone
      throw error
    }
  }

  async #dieInRecovery(hit: Hit): Promise<boolean> {
    const { program } = this.#parts
    const start = await StartedNode.start({ ...this.#place(), armed: hit }, this.#watch, { program })
    if (start.type === 'died') return true
    this.#use(start.node)
    const ended = await Promise.race([start.node.gone, sleep(RECOVERY_MS_MAX, 'alive')])
    await this.#end()
    return ended === 'SIGKILL'
  }

  /**
   * Returns the node that is up, or a new one; it must know what was acknowledged of these gids (I1), before a client
   * asks again.
   */
  async #living(gids: readonly string[]): Promise<StartedNode> {
    if (this.#node !== undefined) return this.#node
    const { program, mutant } = this.#parts
    const isFirst = gids.length === 0
    const given = { ...this.#place(), ...(mutant === undefined || !isFirst ? {} : { mutant }) }
    const start = await StartedNode.start(given, this.#watch, { program })
    if (start.type === 'died') throw new Error('a node that is not armed has died')
    for (const gid of gids) {
      if (!this.#client.acknowledged.has(gid)) continue
      const view = await this.#client.look(start.node.url, gid)
      if (view === undefined) this.#faults.push(`I1: ${gid} was acknowledged and is lost`)
    }
    this.#use(start.node)
    return start.node
  }

  #place(): Pick<ChainParts, 'path' | 'ownBank'> {
    const { path, ownBank } = this.#parts
    return ownBank === undefined ? { path } : { path, ownBank }
  }

  async #audit(node: StartedNode, scenario: Scenario): Promise<void> {
    await this.#waitForFinal(node, scenario)
    for (const [gid, endsIn] of scenario.expected) {
      const view = await this.#client.look(node.url, gid)
      if (view === undefined) this.#faults.push(`I1: ${gid} is gone`)
      else if (!endsIn.includes(view.status)) this.#faults.push(`${gid} ended as ${view.status}`)
      if (view !== undefined) this.#faults.push(...this.#parts.ledger.findFaults(view))
    }
  }

  async #waitForFinal(node: StartedNode, { gids, prefix }: Scenario): Promise<void> {
    let ended = 0
    await until(`the transactions of ${prefix} are final`, FINAL_MS_MAX, async () => {
      for (; ended < gids.length; ended++) {
        const view = await this.#client.look(node.url, gids[ended] ?? '')
        if (view !== undefined && !isFinalStatus(view.status)) return false
      }
      return true
    })
  }

  #use(node: StartedNode): void {
    this.#node = node
    this.#client.useNode(node.url)
  }

  async #end(): Promise<void> {
    this.#client.useNode(undefined)
    await this.#node?.kill()
    this.#node = undefined
  }

  #nextScenario(): Scenario {
    this.#scenarios += 1
    return new Scenario(`${this.#parts.name}-${this.#scenarios}`, this.#client, this.#parts.participants)
  }
}
