import { until } from '@counterstep/test-servers/until'
import { BranchService } from './branch-service.ts'
import { type NodeFlags, NodeProcess } from './node-process.ts'
import { type OwnStore, ownStore } from './own-store.ts'

const FREEZES_MAX = 10
/** Only tells stuck from slow. */
const TRANSACTION_MS_MAX = 10_000

/** Several nodes on one store that no other test uses, and the services that they call. */
export class Fixture {
  readonly branches: BranchService
  readonly #nodes: NodeProcess[]
  readonly #store: OwnStore
  readonly #flags: NodeFlags
  readonly #errors: string[] = []

  private constructor(branches: BranchService, nodes: NodeProcess[], store: OwnStore, flags: NodeFlags) {
    this.branches = branches
    this.#nodes = nodes
    this.#store = store
    this.#flags = flags
  }

  static async start(storeUrl: string, count: number, flags: NodeFlags = {}): Promise<Fixture> {
    const store = await ownStore(storeUrl)
    const all = { store: store.url, ...flags }
    // The first one makes the tables.
    const nodes = [await NodeProcess.start(all)]
    const others = Array.from({ length: count - 1 }, () => NodeProcess.start(all))
    nodes.push(...(await Promise.all(others)))
    return new Fixture(await BranchService.start(), nodes, store, all)
  }

  get urls(): readonly string[] {
    return this.#nodes.map(({ url }) => url)
  }

  node(index: number): NodeProcess {
    const node = this.#nodes[index]
    if (node === undefined) throw new Error(`there is no node ${index}`)
    return node
  }

  /**
   * Not in the middle of a database transaction: the rows that it has locked would be kept from the others for 10 s, until
   * the server ends the session, and not for a lease.
   */
  async freezeBetweenTransactions(index: number): Promise<void> {
    const node = this.node(index)
    for (let tries = 0; tries < FREEZES_MAX; tries++) {
      node.freeze()
      if (!(await this.#store.hasLongTransaction())) return
      node.thaw()
      // Which takes some tenths of a second, in which it renews what it was kept from.
      await until(
        'its transaction is over',
        TRANSACTION_MS_MAX,
        async () => !(await this.#store.hasLongTransaction()),
      )
    }
    throw new Error(`each of ${FREEZES_MAX} times that the node froze, it was in a transaction`)
  }

  /** A new process where the one before listened. */
  async restart(index: number): Promise<void> {
    const node = this.node(index)
    this.#errors.push(...node.errors)
    this.#nodes[index] = await NodeProcess.start({ ...this.#flags, port: node.port })
  }

  /** Throws when a node did not stop well, or has logged an error. */
  async stop(): Promise<void> {
    const endings = await Promise.all(this.#nodes.map((node) => (node.isAlive ? node.stop() : undefined)))
    await this.branches.stop()
    await this.#store.drop()
    const faults = endings.flatMap((ending) =>
      ending === undefined || ending.code === 0 ? [] : [`exit ${ending.code}`],
    )
    faults.push(...this.#errors, ...this.#nodes.flatMap(({ errors }) => errors))
    if (faults.length > 0) throw new Error(`the nodes were not well:\n${faults.join('\n')}`)
  }
}
