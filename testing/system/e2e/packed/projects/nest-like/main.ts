import 'reflect-metadata'
import { DatabaseSync } from 'node:sqlite'
import { type Branch, BranchFailure, type Client, createClient, saga } from '@counterstep/sdk'
import { migrateBarrier, sqliteBarrier } from '@counterstep/sdk/barrier/sqlite'
import { branchHandler } from '@counterstep/sdk/fastify'
import { fastify } from 'fastify'

interface Move {
  readonly account: string
  readonly delta: number
}

type Constructor = new (...parameters: never[]) => object

function Injectable(): ClassDecorator {
  return () => undefined
}

/** Makes a class with what its constructor names, as Nest's injector does: by the metadata that the compiler writes. */
class Injector {
  readonly #made = new Map<Constructor, object>()

  get<T extends object>(wanted: new (...parameters: never[]) => T): T {
    const known = this.#made.get(wanted)
    if (known !== undefined) return known as T
    const needed: Constructor[] = Reflect.getMetadata('design:paramtypes', wanted) ?? []
    const made = new wanted(...(needed.map((each) => this.get(each)) as never[]))
    this.#made.set(wanted, made)
    return made
  }
}

@Injectable()
class Bank {
  readonly database = new DatabaseSync(':memory:')

  constructor() {
    migrateBarrier(this.database)
    this.database.exec(`CREATE TABLE account (id TEXT PRIMARY KEY, cents INTEGER NOT NULL);
      INSERT INTO account VALUES ('alice', 100), ('bob', 0)`)
  }

  move(tx: DatabaseSync, { op, payload }: Branch<Move>): void {
    const delta = op === 'action' ? payload.delta : -payload.delta
    const sql = 'UPDATE account SET cents = cents + ? WHERE id = ?'
    if (tx.prepare(sql).run(delta, payload.account).changes === 0) throw new BranchFailure('no such account')
  }

  cents(): object {
    const rows = this.database.prepare('SELECT id, cents FROM account').all()
    return Object.fromEntries(rows.map(({ id, cents }) => [id, cents]))
  }
}

@Injectable()
class Counterstep {
  readonly client: Client = createClient({ url: process.env.COUNTERSTEP_URL ?? '' })
}

@Injectable()
class TransferService {
  readonly #bank: Bank
  readonly #counterstep: Counterstep

  constructor(bank: Bank, counterstep: Counterstep) {
    this.#bank = bank
    this.#counterstep = counterstep
  }

  async run(): Promise<object> {
    const app = fastify()
    const barrier = sqliteBarrier(this.#bank.database)
    app.post('/move', branchHandler(barrier, (tx, branch: Branch<Move>) => this.#bank.move(tx, branch)))
    const url = `${await app.listen({ host: '127.0.0.1', port: 0 })}/move`
    const part = (account: string, delta: number) => ({
      action: url,
      compensation: url,
      payload: { account, delta },
    })
    const statuses: string[] = []
    for (const to of ['bob', 'nobody']) {
      const transfer = saga({ deadlineMs: 60_000 })
        .branch('debit', part('alice', -5))
        .branch('credit', part(to, 5))
      statuses.push((await this.#counterstep.client.submit(transfer, { waitMs: 20_000 })).status)
    }
    await app.close()
    return { statuses, cents: this.#bank.cents() }
  }
}

new Injector()
  .get(TransferService)
  .run()
  .then((printed) => console.log(JSON.stringify(printed)))
