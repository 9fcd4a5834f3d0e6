import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import {
  type Addition,
  type ConditionalAddOptions,
  type GroupApply,
  type GroupBarrier,
  groupedBranch,
} from '../../src/grouped/grouped.ts'
import type { BarrierCall, BarrierOutcome } from '../../src/index.ts'

/**
 * One driver on one real database, with the tables `account` (id text whose collation, if it can, takes letter cases
 * for one; cents, 64 bits), `numbered` (id 64 bits, cents 32 bits if there is such a type) and `ledger` (number,
 * counting; gid, op, account, cents).
 */
export interface AdditionFixture<Tx> {
  readonly barrier: GroupBarrier<Tx>
  conditionalAdd<Entry extends Addition>(options: ConditionalAddOptions<Entry>): GroupApply<Tx, Entry>
  /** Runs statements without values. */
  execute(sql: string): Promise<void>
  /** This is the first column, as texts. */
  column(sql: string): Promise<readonly string[]>
  /** Writes one text as a literal of the dialect. */
  literal(text: string): string
  readonly hasNarrowIntegers: boolean
  /** Locks one row on a connection of its own, if there are locks of rows; resolves with what lets it go. */
  lockOnly?(id: string, table?: string): Promise<() => Promise<void>>
  /** Makes the key of a table `altered` from INT to 64 bits, if columns have types. */
  readonly widenKey?: string
  close(): Promise<void>
}

type Op = BarrierCall['op']
interface Wish extends Addition {
  readonly op?: Op
}

export function conditionalAddSuite<Tx>(name: string, open: () => Promise<AdditionFixture<Tx>>): void {
  describe(`conditionalAdd on ${name}`, () => {
    let fixture: AdditionFixture<Tx>
    let gids = 0
    beforeAll(async () => {
      fixture = await open()
    })
    afterAll(() => fixture.close())
    beforeEach(async () => {
      for (const table of ['account', 'numbered', 'ledger']) await fixture.execute(`DELETE FROM ${table}`)
    })

    const LOG = {
      table: 'ledger',
      columns: ['gid', 'op', 'account', 'cents'],
      values: ({ call, id, delta }: { call: BarrierCall; id: string; delta: bigint }) => [
        call.gid,
        call.op,
        id,
        delta,
      ],
    }
    const OPTIONS = { table: 'account', valueColumn: 'cents', log: LOG } as const
    const give = (id: string, cents: number | string) =>
      fixture.execute(`INSERT INTO account (id, cents) VALUES (${fixture.literal(id)}, ${cents})`)
    const readCents = async (id: string) =>
      (
        await fixture.column(
          `SELECT CAST(cents AS CHAR(30)) AS found FROM account WHERE id = ${fixture.literal(id)}`,
        )
      )[0]?.trim()
    const ledger = () => fixture.column('SELECT cents AS found FROM ledger ORDER BY number')

    const newCall = (op: Op = 'action'): BarrierCall => ({ gid: `add-${++gids}`, branchId: '01', op })
    /** Sends each wish as a call, all in one group; a compensation is of an action that ran. */
    const inOneGroup = async (
      wishes: readonly Wish[],
      options: Partial<ConditionalAddOptions<Addition>> = {},
    ): Promise<string[]> => {
      const calls: BarrierCall[] = []
      for (const wish of wishes) {
        const op = wish?.op ?? 'action'
        const call = newCall(op)
        if (op === 'compensate') await fixture.barrier.run({ ...call, op: 'action' }, () => undefined)
        calls.push(call)
      }
      const branch = groupedBranch(fixture.barrier, {
        key: () => 'all',
        apply: fixture.conditionalAdd<Addition>({ ...OPTIONS, ...options }),
      })
      return Promise.all(calls.map((call, at) => told(branch.run(call, () => wishes[at] as Wish))))
    }
    const told = (running: Promise<BarrierOutcome>): Promise<string> =>
      running.then(
        ({ decision, answer }) => (decision === 'run' ? `${JSON.parse(answer ?? '{}').value}` : decision),
        (error: { branchResult?: string; code?: string; message: string }) =>
          error.branchResult === undefined
            ? `broken ${error.code ?? error.message}`
            : `failure ${error.code}`,
      )

    it('The calls of a group are served in their order, each by what those before have left, and each addition is logged', async () => {
      await give('alice', 100)
      const deltas = [-60, -60, 20, -60, -1]
      expect(await inOneGroup(deltas.map((delta) => ({ id: 'alice', delta })))).toEqual([
        '40',
        'failure INSUFFICIENT',
        '60',
        '0',
        'failure INSUFFICIENT',
      ])
      expect([await readCents('alice'), await ledger()]).toEqual(['0', ['-60', '20', '-60']])
    })

    it('A compensation is never refused, and neither is anything that adds', async () => {
      await give('alice', 10)
      const wishes: Wish[] = [
        { id: 'alice', delta: -50, op: 'compensate' },
        { id: 'alice', delta: 5 },
        { id: 'alice', delta: -1 },
        { id: 'alice', delta: -1, op: 'confirm' },
        { id: 'alice', delta: -1, op: 'try' },
      ]
      expect(await inOneGroup(wishes)).toEqual([
        '-40',
        '-35',
        'failure INSUFFICIENT',
        '-36',
        'failure INSUFFICIENT',
      ])
      expect([await readCents('alice'), await ledger()]).toEqual(['-36', ['-50', '5', '-1']])
    })

    it('The duplicate of a debit gets its first answer when the account is drained', async () => {
      await give('alice', 60)
      const branch = groupedBranch(fixture.barrier, {
        key: () => 'all',
        apply: fixture.conditionalAdd(OPTIONS),
      })
      const call = newCall()
      const debit = () => told(branch.run(call, () => ({ id: 'alice', delta: -60 })))
      expect(await Promise.all([debit(), debit()])).toEqual(['0', 'duplicate'])
      expect([await debit(), await readCents('alice')]).toEqual(['duplicate', '0'])
    })

    it('An addition and its compensation may be in one group', async () => {
      await give('alice', 10)
      const branch = groupedBranch(fixture.barrier, {
        key: () => 'all',
        apply: fixture.conditionalAdd<Addition>(OPTIONS),
      })
      const [undone, other] = [newCall(), newCall()]
      const running = [
        branch.run(undone, () => ({ id: 'alice', delta: -3 })),
        branch.run(other, () => ({ id: 'alice', delta: -5 })),
        branch.run({ ...undone, op: 'compensate' }, () => ({ id: 'alice', delta: 3 })),
        branch.run(undone, () => ({ id: 'alice', delta: -3 })),
      ]
      expect(await Promise.all(running.map(told))).toEqual(['7', '2', '5', 'already-compensated'])
      expect([await readCents('alice'), await ledger()]).toEqual(['5', ['-3', '-5', '3']])
    })

    it('A call for an account that is not there, to the letter, fails, and the others are served', async () => {
      await give('Alice', 100)
      const ids = ['Alice', 'alice', 'Alice ', 'bob', '']
      const outcomes = await inOneGroup(ids.map((id) => ({ id, delta: -1 })))
      expect(outcomes).toEqual(['99', ...Array(4).fill('failure UNKNOWN_ACCOUNT')])
      // It must not turn a transaction around a second time.
      const undone = await inOneGroup([{ id: 'bob', delta: 1, op: 'compensate' }])
      expect(undone[0]).toMatch(/^broken UNKNOWN_ACCOUNT for a compensate/)
    })

    it('Names and ids may be of any letters', async () => {
      const id = 'o\'\\" `; -- \u{1F600}ü'
      await give(id, 5)
      expect(await inOneGroup([{ id, delta: -5 }])).toEqual(['0'])
      expect(await fixture.column('SELECT account AS found FROM ledger')).toEqual([id])
    })

    it('Values are computed in 64 bits, and what these do not hold is refused', async () => {
      await give('alice', '9007199254740993')
      await give('rich', '9223372036854775800')
      const wishes: Wish[] = [
        { id: 'alice', delta: 2n },
        { id: 'alice', delta: '-9007199254740994' },
        { id: 'rich', delta: '+7' },
        { id: 'rich', delta: 1 },
        { id: 'rich', delta: 1, op: 'compensate' },
        { id: 'rich', delta: '-9223372036854775808', op: 'compensate' },
      ]
      expect(await inOneGroup(wishes)).toEqual([
        '9007199254740995',
        '1',
        '9223372036854775807',
        'failure OUT_OF_RANGE',
        'broken OUT_OF_RANGE for a compensate: the column cannot hold the value that would be there',
        '-1',
      ])
      expect([await readCents('alice'), await readCents('rich')]).toEqual(['1', '-1'])
    })

    it('An account holds the smallest and the largest value', async () => {
      await give('low', 0)
      await give('high', 0)
      const wishes: Wish[] = [
        { id: 'low', delta: '-9223372036854775808' },
        { id: 'high', delta: '9223372036854775807' },
      ]
      const outcomes = await inOneGroup(wishes, { min: null })
      expect(outcomes).toEqual(['-9223372036854775808', '9223372036854775807'])
      expect([await readCents('low'), await readCents('high')]).toEqual(outcomes)
    })

    it('A delta that is no whole number is refused, and not as a business failure', async () => {
      await give('alice', 100)
      const odd: unknown[] = [
        0.5,
        Number.NaN,
        2 ** 53,
        '1e3',
        '',
        ' 1',
        '0x1',
        '9223372036854775808',
        null,
        undefined,
        {},
      ]
      const outcomes = await inOneGroup([
        ...odd.map((delta) => ({ id: 'alice', delta }) as Addition),
        { id: 'alice', delta: 1 },
      ])
      expect(outcomes).toEqual([...odd.map(() => 'broken BRANCH_PAYLOAD_INVALID'), '101'])
      const none = [
        undefined,
        null,
        7,
        { delta: 1 },
        { id: {}, delta: 1 },
        { id: 0.5, delta: 1 },
      ] as unknown as Addition[]
      expect(new Set(await inOneGroup(none))).toEqual(new Set(['broken BRANCH_PAYLOAD_INVALID']))
    })

    it('Rows are known by numbers, however these are written', async () => {
      await fixture.execute(
        'INSERT INTO numbered (id, cents) VALUES (7, 10), (9007199254740993, 10), (9007199254740992, 0)',
      )
      const wishes: Wish[] = [
        { id: 7, delta: -1 },
        { id: '7', delta: -1 },
        { id: 7n, delta: -1 },
        { id: 9007199254740993n, delta: -1 },
        { id: '9007199254740993', delta: -1 },
        { id: 8, delta: -1 },
      ]
      const outcomes = await inOneGroup(wishes, { table: 'numbered' })
      expect(outcomes).toEqual(['9', '8', '7', '9', '8', 'failure UNKNOWN_ACCOUNT'])
      expect(await fixture.column('SELECT cents AS found FROM numbered ORDER BY id')).toEqual(['7', '0', '8'])
    })

    it('Accounts are told apart whose ids are the same double, two or three hundred of them', async () => {
      for (const count of [2, 300]) {
        const ids = Array.from({ length: count }, (_, at) => `${1_234_567_890_123_456_789n + BigInt(at)}`)
        const rows = ids.map((id, at) => `(${id}, ${1_000 * at})`)
        await fixture.execute(`DELETE FROM numbered`)
        await fixture.execute(`INSERT INTO numbered (id, cents) VALUES ${rows.join()}`)
        const wishes = ids.map((id, at) => ({ id: at % 5 === 4 ? BigInt(id) : id, delta: 1 + at }))
        const expected = ids.map((_, at) => `${1_001 * at + 1}`)
        expect(await inOneGroup(wishes, { table: 'numbered' })).toEqual(expected)
        expect(await fixture.column('SELECT cents AS found FROM numbered ORDER BY id')).toEqual(expected)
      }
      const neighbour = { id: '1234567890123457800', delta: 1 }
      expect(await inOneGroup([neighbour], { table: 'numbered' })).toEqual(['failure UNKNOWN_ACCOUNT'])
    })

    it('Numbers and texts are taken together, for a column of either', async () => {
      await fixture.execute('INSERT INTO numbered (id, cents) VALUES (7, 70), (8, 80), (9, 90)')
      const mixed: Wish[] = [
        { id: 7, delta: 1 },
        { id: '8', delta: 1 },
        { id: 9n, delta: 1 },
      ]
      expect(await inOneGroup(mixed, { table: 'numbered' })).toEqual(['71', '81', '91'])
      expect(await fixture.column('SELECT cents AS found FROM numbered ORDER BY id')).toEqual([
        '71',
        '81',
        '91',
      ])
      await give('0', 5)
      await give('alice', 1_000)
      const texts: Wish[] = [
        { id: 0, delta: 1 },
        { id: 'alice', delta: 1 },
      ]
      expect(await inOneGroup(texts)).toEqual(['6', '1001'])
      expect([await readCents('0'), await readCents('alice')]).toEqual(['6', '1001'])
    })

    it('An account that was found under another writing of its id is not called unknown', async () => {
      await fixture.execute('INSERT INTO numbered (id, cents) VALUES (7, 70)')
      const outcomes = await inOneGroup([{ id: '007', delta: 1 }], { table: 'numbered' })
      expect(outcomes[0]).toMatch(/^broken the database writes the key/)
      expect(await fixture.column('SELECT cents AS found FROM numbered')).toEqual(['70'])
    })

    const BEYOND = [
      '99999999999999999999',
      '-9223372036854775809',
      '1e400',
      '5.5',
      'x',
      '',
      '1'.repeat(250_000),
    ]

    it('An id that a column of numbers cannot hold is unknown, and the calls beside it are served', async () => {
      await fixture.execute('INSERT INTO numbered (id, cents) VALUES (7, 70)')
      const wishes = [7, ...BEYOND, 7].map((id) => ({ id, delta: 1 }))
      const unknown = BEYOND.map(() => 'failure UNKNOWN_ACCOUNT')
      expect(await inOneGroup(wishes, { table: 'numbered' })).toEqual(['71', ...unknown, '72'])
      expect(await inOneGroup(wishes.slice(1, -1), { table: 'numbered' })).toEqual(unknown)
    })

    it('An id that a column of texts cannot hold is unknown, and the calls beside it are served', async () => {
      await give('alice', 10)
      const ids = ['alice', 'x'.repeat(3_073), 'x'.repeat(250_000), 'a\0b', 'alice']
      expect(await inOneGroup(ids.map((id) => ({ id, delta: 1 })))).toEqual([
        '11',
        ...Array(3).fill('failure UNKNOWN_ACCOUNT'),
        '12',
      ])
    })

    it('A group with ids that the column cannot hold waits for no row but its own', async () => {
      if (fixture.lockOnly === undefined) return expect(name).toMatch(/sqlite/)
      await fixture.execute('INSERT INTO numbered (id, cents) VALUES (7, 70), (8, 80), (9, 90)')
      const unlock = await fixture.lockOnly('8', 'numbered')
      try {
        const outcomes = await inOneGroup(
          ['7', ...BEYOND].map((id) => ({ id, delta: 1 })),
          { table: 'numbered' },
        )
        expect(outcomes[0]).toBe('71')
      } finally {
        await unlock()
      }
    })

    it('A column that was made wider holds what it could not hold before', async () => {
      if (fixture.widenKey === undefined) return expect(name).toMatch(/sqlite/)
      await fixture.execute('CREATE TABLE altered (id INT PRIMARY KEY, cents BIGINT NOT NULL)')
      const branch = groupedBranch(fixture.barrier, {
        key: () => 'all',
        apply: fixture.conditionalAdd<Addition>({ table: 'altered', valueColumn: 'cents' }),
      })
      const add = () => told(branch.run(newCall(), () => ({ id: 3_000_000_000, delta: 1 })))
      expect(await add()).toBe('failure UNKNOWN_ACCOUNT')
      await fixture.execute(fixture.widenKey)
      await fixture.execute('INSERT INTO altered (id, cents) VALUES (3000000000, 0)')
      expect(await add()).toBe('1')
    })

    it('A sum that its column cannot hold is refused, and the calls beside it are served with it', async () => {
      if (!fixture.hasNarrowIntegers) return expect(name).toMatch(/sqlite/)
      await fixture.execute('INSERT INTO numbered (id, cents) VALUES (1, 10), (2, 2147483646), (3, 10)')
      const wishes: Wish[] = [
        { id: 1, delta: 1 },
        { id: 2, delta: 1 },
        { id: 2, delta: 1 },
        { id: 2, delta: 1, op: 'compensate' },
        { id: 3, delta: 3_000_000_000 },
        { id: 3, delta: '-2147483659' },
        { id: 3, delta: '-2147483658' },
      ]
      let groups = 0
      const apply = fixture.conditionalAdd<Addition>({ table: 'numbered', valueColumn: 'cents', min: null })
      const branch = groupedBranch(fixture.barrier, {
        key: () => 'all',
        apply: (tx: Tx, calls: Parameters<typeof apply>[1]) => {
          groups++
          return apply(tx, calls)
        },
      })
      const undone = newCall('compensate')
      await fixture.barrier.run({ ...undone, op: 'action' }, () => undefined)
      const running = wishes.map((wish) =>
        told(branch.run(wish.op === 'compensate' ? undone : newCall(), () => wish)),
      )
      expect(await Promise.all(running)).toEqual([
        '11',
        '2147483647',
        'failure OUT_OF_RANGE',
        'broken OUT_OF_RANGE for a compensate: the column cannot hold the value that would be there',
        'failure OUT_OF_RANGE',
        'failure OUT_OF_RANGE',
        '-2147483648',
      ])
      expect(groups).toBe(1)
    })

    it('Nothing is added for a call whose log throws', async () => {
      await give('alice', 100)
      const values = ({ delta }: { delta: bigint }) => {
        if (delta === 2n) throw new Error('no log')
        return delta === 3n ? [1] : ['g', 'action', 'alice', delta]
      }
      const outcomes = await inOneGroup(
        [1, 2, 3, 4].map((delta) => ({ id: 'alice', delta })),
        { log: { ...LOG, values } },
      )
      expect(outcomes.map((outcome) => outcome.split(' ')[0])).toEqual(['101', 'broken', 'broken', '105'])
      expect([await readCents('alice'), await ledger()]).toEqual(['105', ['1', '4']])
    })

    it('A group waits for no row but its own, however small the table', async () => {
      if (fixture.lockOnly === undefined) return expect(name).toMatch(/sqlite/)
      for (const id of ['alice', 'bob', 'carol']) await give(id, 10)
      const unlock = await fixture.lockOnly('alice')
      const debits = ['bob', 'carol'].map((id) => ({ id, delta: -1 }))
      expect(await inOneGroup(debits)).toEqual(['9', '9'])
      await unlock()
    })

    it('Only the calls that need a locked row end as unavailable, and the others of their group get through', async () => {
      if (fixture.lockOnly === undefined) return expect(name).toMatch(/sqlite/)
      const ids = Array.from({ length: 40 }, (_, at) => `id-${at}`)
      for (const id of ids) await give(id, 10)
      const unlock = await fixture.lockOnly('id-7')
      const outcomes = await inOneGroup([...ids, 'id-7'].map((id) => ({ id, delta: -1 })))
      await unlock()
      const expected = ids.map((id) => (id === 'id-7' ? 'broken BARRIER_CONTENDED' : '9'))
      expect(outcomes).toEqual([...expected, 'broken BARRIER_CONTENDED'])
      expect([await readCents('id-7'), (await ledger()).length]).toEqual(['10', 39])
    })

    it('No call is held up behind one that waits alone for a locked row', async () => {
      if (fixture.lockOnly === undefined) return expect(name).toMatch(/sqlite/)
      for (const id of ['alice', 'bob']) await give(id, 10)
      const unlock = await fixture.lockOnly('alice')
      const branch = groupedBranch(fixture.barrier, {
        key: () => 'all',
        apply: fixture.conditionalAdd(OPTIONS),
      })
      let alone: Promise<string> | undefined
      await new Promise<void>((entered) => {
        alone = told(
          branch.run(newCall(), () => {
            entered()
            return { id: 'alice', delta: -1 }
          }),
        )
      })
      const others = [1, 2].map(() => told(branch.run(newCall(), () => ({ id: 'bob', delta: -1 }))))
      expect(await Promise.all(others)).toEqual(['9', '8'])
      await unlock()
      // It waits as long as the plain barrier does.
      expect(await alone).toBe('9')
    })

    it('The minimum that is given is kept', async () => {
      await give('alice', 0)
      const debit = [{ id: 'alice', delta: -60 }]
      expect(await inOneGroup(debit, { min: '-100' })).toEqual(['-60'])
      expect(await inOneGroup(debit, { min: -100n })).toEqual(['failure INSUFFICIENT'])
      expect(await inOneGroup(debit, { min: null })).toEqual(['-120'])
    })

    it('Names and settings that are not plain ones are refused when they are given', () => {
      const bad: Partial<ConditionalAddOptions<Addition>>[] = [
        { table: 'account; DROP TABLE account' },
        { keyColumn: 'id` = 1 --' },
        { valueColumn: '' },
        { min: 0.5 },
        { log: { ...LOG, table: 'a.b.c' } },
        { log: { ...LOG, columns: [] } },
        { log: { ...LOG, columns: ['gid', 'x"'] } },
      ]
      for (const each of bad) expect(() => fixture.conditionalAdd({ ...OPTIONS, ...each })).toThrow(TypeError)
    })

    it('Money is conserved between eight accounts in four queues, with duplicates and compensations', async () => {
      const ids = Array.from({ length: 8 }, (_, number) => `account-${number}`)
      for (const id of ids) await give(id, 100)
      let turn = 0
      const branch = groupedBranch(fixture.barrier, {
        key: () => String(turn++ % 4),
        apply: fixture.conditionalAdd<Addition>(OPTIONS),
      })
      let state = 7
      const random = (below: number): number => {
        state = (state * 48_271) % 2_147_483_647
        return state % below
      }
      const transfers = Array.from({ length: 400 }, () => {
        const cents = 1 + random(120)
        return {
          cents,
          from: ids[random(8)] ?? '',
          to: ids[random(8)] ?? '',
          gid: `pay-${++gids}`,
          isUndone: random(4) === 0,
        }
      })
      const outcomes = { run: 0, refused: 0, undone: 0 }
      const serve = async ({ cents, from, to, gid, isUndone }: (typeof transfers)[number]): Promise<void> => {
        const out = { gid, branchId: 'out', op: 'action' } as const
        const debit = () => told(branch.run(out, () => ({ id: from, delta: -cents })))
        const [first, second] = await Promise.all([debit(), debit()])
        if ([first, second].every((each) => each === 'failure INSUFFICIENT')) {
          outcomes.refused++
          return
        }
        // One of the two may have been refused before money came in, and the other served after it.
        expect(
          [first, second].filter((each) => each === 'duplicate' || each === 'failure INSUFFICIENT'),
        ).toHaveLength(1)
        if (isUndone) {
          expect(
            await told(branch.run({ ...out, op: 'compensate' }, () => ({ id: from, delta: cents }))),
          ).toMatch(/^-?\d+$/)
          outcomes.undone++
        } else {
          expect(
            await told(branch.run({ ...out, branchId: 'in' }, () => ({ id: to, delta: cents }))),
          ).toMatch(/^-?\d+$/)
          outcomes.run++
        }
      }
      let next = 0
      const walk = async (): Promise<void> => {
        for (let at = next++; at < transfers.length; at = next++) {
          const transfer = transfers[at]
          if (transfer !== undefined) await serve(transfer)
        }
      }
      await Promise.all(Array.from({ length: 32 }, walk))
      expect(Math.min(...Object.values(outcomes))).toBeGreaterThan(0)
      const sum = (numbers: readonly string[]): number =>
        numbers.reduce((total, each) => total + Number(each), 0)
      const balances = await fixture.column('SELECT cents AS found FROM account ORDER BY id')
      expect([sum(balances), Math.min(...balances.map(Number)) >= 0]).toEqual([800, true])
      for (const [number, id] of ids.entries()) {
        const own = await fixture.column(
          `SELECT cents AS found FROM ledger WHERE account = ${fixture.literal(id)}`,
        )
        expect(100 + sum(own)).toBe(Number(balances[number]))
      }
      expect(await ledger()).toHaveLength(2 * (outcomes.run + outcomes.undone))
    }, 60_000)
  })
}
