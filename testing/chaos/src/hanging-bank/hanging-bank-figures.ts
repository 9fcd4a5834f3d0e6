import { quantile } from '../overload/quantile.ts'
import type { HangingBankReport, HangingBankRound } from './run-hanging-bank.ts'

const HEALTHY_SHARE_MIN = 0.95

/** The rate of the two other banks while the third hangs, over their rate while it does not, by the medians of the rounds. */
export function healthyShare({ well, hanging }: HangingBankReport): number {
  return medianPerSecond(hanging) / medianPerSecond(well)
}

export function findHangingBankMisses(report: HangingBankReport): readonly string[] {
  const missed: string[] = []
  const rounds = [...report.well, ...report.hanging]
  if (!(healthyShare(report) >= HEALTHY_SHARE_MIN))
    missed.push(`the two other banks keep less than ${100 * HEALTHY_SHARE_MIN} % of their rate`)
  if (report.hanging.some(({ refused }) => refused === 0)) missed.push('the third bank came to no bound')
  if (rounds.some(({ healthyFailures }) => healthyFailures > 0))
    missed.push('transfers between the other banks did not succeed')
  if (rounds.some(({ others }) => others > 0)) missed.push('submits were answered by something else')
  if (rounds.some(({ unfinished }) => unfinished > 0)) missed.push('accepted sagas did not end')
  return missed.map((sentence) => `MISSED: ${sentence}`)
}

export function hangingBankTable(report: HangingBankReport): string {
  return [
    'third bank  healthy/s  failed  accepted  refused  unfinished',
    ...report.well.map((round) => formatRound('well', round)),
    ...report.hanging.map((round) => formatRound('hanging', round)),
    `rate of the other two banks: ${(100 * healthyShare(report)).toFixed(1)} %`,
  ].join('\n')
}

function formatRound(name: string, round: HangingBankRound): string {
  return [
    name.padEnd(10),
    round.healthyPerSecond.toFixed(1).padStart(10),
    String(round.healthyFailures).padStart(7),
    String(round.accepted).padStart(9),
    String(round.refused).padStart(8),
    String(round.unfinished).padStart(11),
  ].join(' ')
}

function medianPerSecond(rounds: readonly HangingBankRound[]): number {
  const rates = rounds.map(({ healthyPerSecond }) => healthyPerSecond)
  return quantile(rates, 0.5) ?? 0
}
