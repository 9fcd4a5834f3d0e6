import type { TransactionUpdate } from '@counterstep/core'
import type { PairEnd, PairRace } from './pair-race.ts'
import type { RaceCall, RaceResult } from './race-messages.ts'
import { aTransaction, createRow, makeDigest, makeUpdate } from './transactions.ts'

const LEASE_MS = 600_000
const OWNED = { type: 'owned', leaseMs: LEASE_MS } as const

function isSaved(result: RaceResult): boolean {
  return 'type' in result && result.type === 'saved'
}

function update(argument: TransactionUpdate): RaceCall {
  return { verb: 'update', argument }
}

const createAgainstCreate: PairRace = {
  title: 'create against create',
  calls: async (_store, gid, index) => [
    { verb: 'create', argument: aTransaction(gid, { definition: 'left', hold: OWNED }) },
    {
      verb: 'create',
      argument: aTransaction(gid, {
        definition: 'right',
        status: 'prepared',
        digest: makeDigest(index % 2 === 0 ? 'a' : 'b'),
        hold: OWNED,
      }),
    },
  ],
  hasWon: (result) => 'type' in result && result.type === 'created',
  findComplaint: ({ winner, won, lost, row }) => {
    if (winner.verb !== 'create' || !('createdAt' in won)) return 'not a create'
    const { hold, ...given } = winner.argument
    if (!hasAll(row, given)) return 'the row is not the winner’s'
    if (row.version !== 1 || row.epoch !== 1 || row.createdAt !== won.createdAt)
      return 'the row has been touched'
    if (!('digest' in lost) || lost.digest !== row.digest || lost.status !== row.status) {
      return 'the loser was told of another row'
    }
    return undefined
  },
}

/** Both calls know the same version. One is saved, and the other gets the winner's version. */
function findUpdateComplaint({ winner, won, lost, row }: PairEnd): string | undefined {
  if (winner.verb !== 'update' || !('version' in won)) return 'not an update'
  const { hold, version, ...written } = winner.argument
  if (!hasAll(row, written)) return 'the row is not the winner’s'
  if (won.version !== row.version || row.version <= version) return 'the winner’s version is not the row’s'
  if (row.owned !== (hold.type !== 'finish')) return 'the row’s owner is not the one that the winner left'
  if (!('version' in lost) || lost.type !== 'conflict') return 'the loser has no conflict'
  return lost.version === row.version ? undefined : 'the conflict tells another version'
}

const writeAgainstWrite: PairRace = {
  title: 'write against write',
  calls: async (store, gid) => {
    const row = await createRow(store, aTransaction(gid, { hold: OWNED }))
    return [
      update(makeUpdate(row, { type: 'keep' }, { progress: 'left' })),
      update(makeUpdate(row, { type: 'keep' }, { progress: 'right' })),
    ]
  },
  hasWon: isSaved,
  findComplaint: findUpdateComplaint,
}

const commandAgainstFinish: PairRace = {
  title: 'command against finish',
  calls: async (store, gid, index) => {
    const row = await createRow(store, aTransaction(gid, { hold: OWNED }))
    const command = update(makeUpdate(row, { type: 'command' }, { status: 'aborting', progress: 'abort' }))
    const finish = update(makeUpdate(row, { type: 'finish', retentionMs: 'never' }, { progress: 'end' }))
    return index % 2 === 0 ? [command, finish] : [finish, command]
  },
  hasWon: isSaved,
  findComplaint: findUpdateComplaint,
}

export const PAIR_RACES: readonly PairRace[] = [createAgainstCreate, writeAgainstWrite, commandAgainstFinish]

function hasAll(row: object, fields: object): boolean {
  const stored = new Map(Object.entries(row))
  return Object.entries(fields).every(([name, value]) => stored.get(name) === value)
}
