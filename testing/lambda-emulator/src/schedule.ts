import type { LambdaFunction } from './lambda-function.ts'

export interface ScheduleOptions {
  readonly target: LambdaFunction
  readonly everyMs: number
  /** If it is `never`, a tick starts no invocation while an earlier one runs. */
  readonly overlap: 'never' | 'allowed'
}

export interface ScheduleCounts {
  readonly invoked: number
  readonly answered: number
  /** These invocations have failed, timed out or been throttled. The next tick is the next try. */
  readonly failed: number
  /** At these ticks an earlier invocation still ran. */
  readonly skipped: number
}

export interface Schedule {
  counts(): ScheduleCounts
  /** Stops the ticks. Resolves when the running invocations have ended. */
  stop(): Promise<void>
}

/** Invokes a function at each interval, the first time after one interval, without waiting for its answers. */
export function startSchedule({ target, everyMs, overlap }: ScheduleOptions): Schedule {
  const counts = { invoked: 0, answered: 0, failed: 0, skipped: 0 }
  const running = new Set<Promise<void>>()
  const tick = () => {
    if (overlap === 'never' && running.size > 0) {
      counts.skipped += 1
      return
    }
    counts.invoked += 1
    const run: Promise<void> = invoke().finally(() => running.delete(run))
    running.add(run)
  }
  const invoke = async () => {
    const { type } = await target.invoke(buildScheduledEvent(target.arn))
    if (type === 'answered') counts.answered += 1
    else counts.failed += 1
  }
  const timer = setInterval(tick, everyMs)
  return {
    counts: () => ({ ...counts }),
    async stop() {
      clearInterval(timer)
      await Promise.all(running)
    },
  }
}

function buildScheduledEvent(arn: string) {
  return {
    version: '0',
    'detail-type': 'Scheduled Event',
    source: 'aws.scheduler',
    time: new Date().toISOString(),
    resources: [arn],
    detail: '{}',
  }
}
