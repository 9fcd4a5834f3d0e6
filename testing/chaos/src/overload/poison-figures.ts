import { quantile } from './quantile.ts'
import type { PoisonReport, PoisonRound } from './run-poison.ts'

const HEALTHY_SHARE_MIN = 0.95

/** Returns the share of the throughput without poison that is left, by the medians of the rounds. */
export function healthyShare({ without, beside }: PoisonReport): number {
  return medianPerSecond(beside) / medianPerSecond(without)
}

export function findPoisonMisses(report: PoisonReport): readonly string[] {
  const missed: string[] = []
  if (!(healthyShare(report) >= HEALTHY_SHARE_MIN))
    missed.push(`healthy throughput is under ${100 * HEALTHY_SHARE_MIN} % beside poison`)
  const rounds = [...report.without, ...report.beside]
  const sum = (pick: (round: PoisonRound) => number) =>
    rounds.reduce((total, round) => total + pick(round), 0)
  if (report.beside.some(({ poison }) => poison === 0)) missed.push('there was no poison')
  if (sum(({ notSucceeded }) => notSucceeded) > 0) missed.push('healthy sagas did not succeed')
  if (sum(({ withoutAttention }) => withoutAttention) > 0)
    missed.push('nobody was told of some of the poison')
  if (sum(({ notUndone }) => notUndone) > 0) missed.push('a retry by hand did not end some of the poison')
  return missed.map((sentence) => `MISSED: ${sentence}`)
}

export function poisonTable(report: PoisonReport): string {
  return [
    'round             healthy/s  p99 ms  poison  without attention  not undone',
    ...report.without.map((round) => toRow('without poison', round)),
    ...report.beside.map((round) => toRow('beside poison', round)),
    `healthy throughput beside poison: ${(100 * healthyShare(report)).toFixed(1)} % of that without`,
  ].join('\n')
}

function toRow(name: string, round: PoisonRound): string {
  return [
    name.padEnd(17),
    round.healthyPerSecond.toFixed(1).padStart(9),
    round.healthyP99Ms.toFixed(0).padStart(7),
    String(round.poison).padStart(7),
    String(round.withoutAttention).padStart(18),
    String(round.notUndone).padStart(11),
  ].join(' ')
}

function medianPerSecond(rounds: readonly PoisonRound[]): number {
  return (
    quantile(
      rounds.map(({ healthyPerSecond }) => healthyPerSecond),
      0.5,
    ) ?? 0
  )
}
