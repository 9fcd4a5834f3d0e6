import type { LambdaResult } from './lambda-run.ts'

const VIOLATIONS_SHOWN = 20

/** Prints the result for people. */
export function formatLambdaResult(result: LambdaResult): string {
  const { settings, ends, functions, messages, slowMessages, violations } = result
  const { store, sagas, burst, seed } = settings
  return [
    `${store} on Lambda, seed ${seed}: ${sagas} transactions, ${burst} at once, in ${seconds(result.tookMs)}`,
    `accepted ${result.accepted}; ends: ${JSON.stringify(ends)}; all ended ${seconds(result.healedMs)} after the last fault`,
    ...(['api', 'worker', 'slow', 'sweeper'] as const).map((name) => {
      const figures = functions[name]
      return (
        `${name}: ${figures.invocations} invocations, ${figures.coldStarts} cold (${figures.initMsMedian} ms), ` +
        `warm ${figures.durationMsMedian} ms, ${figures.timedOut} killed at a deadline, ${figures.failed} failed, ` +
        `${figures.rssMbMost} MB`
      )
    }),
    ...[
      { name: 'messages', counts: messages },
      { name: 'slow messages', counts: slowMessages },
    ].map(
      ({ name, counts }) =>
        `${name}: ${counts.received} received, ${counts.lost} lost, ${counts.doubled} doubled, ${counts.delayed} delayed`,
    ),
    `throttled ${result.throttled}; commits lost or unanswered ${result.commitsLost}; connections at once ${result.connectionsMost ?? 'not counted'}`,
    `violations ${violations.length}`,
    ...violations
      .slice(0, VIOLATIONS_SHOWN)
      .map(({ invariant, subject, detail }) => `  ${invariant} ${subject}: ${detail}`),
  ].join('\n')
}

function seconds(ms: number): string {
  return `${(ms / 1_000).toFixed(1)} s`
}
