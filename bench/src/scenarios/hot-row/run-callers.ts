import { newGid } from '@counterstep/sdk'
import { MeasuredPart } from '../../load/measured-part.ts'
import type { CallersJob, CallersResult } from './callers-job.ts'
import type { Answer, Serve, Wish } from './serve-hot-row.ts'

const CENTS_MAX = 200

/**
 * So many callers, each with one call after the other. None is cut at the end: each waits for its last answer, so that
 * the counts can be held against the tables. Throws if what was sent twice had an effect twice.
 */
export async function runCallers(job: Omit<CallersJob, 'databaseUrl'>, serve: Serve): Promise<CallersResult> {
  const { callers, length, twiceShare } = job
  const startedAt = performance.now()
  const endAt = startedAt + (length.warmUpSeconds + length.seconds) * 1000
  const measured = new MeasuredPart(length, startedAt)
  const counts = { ran: 0, duplicate: 0, refused: 0 }
  let wishes = 0
  let sentTwice = 0

  const send = async (wish: Wish): Promise<Answer> => {
    const sentAt = performance.now()
    const answer = await serve(wish)
    const answeredAt = performance.now()
    counts[answer] += 1
    if (answer === 'ran') measured.answered(answeredAt, answeredAt - sentAt)
    return answer
  }
  const call = async (): Promise<void> => {
    while (performance.now() < endAt) {
      const wish = newWish()
      wishes += 1
      // Evenly, and the first at once: of few calls some are sent twice, too.
      if (sentTwice >= wishes * twiceShare) {
        await send(wish)
        continue
      }
      sentTwice += 1
      assertFiltered(wish, await sendTwice(wish, send))
    }
  }
  await Promise.all(Array.from({ length: callers }, call))
  const { answersPerSecond, latencyMs } = measured.result()
  const { ran, duplicate, refused } = counts
  return { ran, duplicates: duplicate, refused, sentTwice, ranPerSecond: answersPerSecond, latencyMs }
}

/** The sums that are added and those that are taken away cancel out in the mean. */
function newWish(): Wish {
  const cents = 1 + Math.floor(Math.random() * CENTS_MAX)
  const call = { gid: newGid(), branchId: '01', op: 'action' } as const
  return { call, cents: Math.random() < 0.5 ? cents : -cents }
}

async function sendTwice(wish: Wish, send: Serve): Promise<readonly Answer[]> {
  if (Math.random() < 0.5) return Promise.all([send(wish), send(wish)])
  return [await send(wish), await send(wish)]
}

/** A refusal leaves no row, so that the second of a pair may run or be refused. Otherwise one ran, one is a duplicate. */
function assertFiltered({ call }: Wish, answers: readonly Answer[]): void {
  const countAnswers = (answer: Answer) => answers.filter((each) => each === answer).length
  const ran = countAnswers('ran')
  const isFiltered = ran <= 1 && countAnswers('duplicate') === (countAnswers('refused') > 0 ? 0 : 1)
  if (!isFiltered) throw new Error(`${call.gid} was sent twice and answered ${answers.join(', ')}`)
}
