import { afterEach, beforeEach, expect, it, vi } from 'vitest'
import { AnswerDeadline } from './answer-deadline.ts'

const LIMIT_MS = 100
/** The fake clock runs an immediate at its next tick. */
const TIMER_AND_IMMEDIATE_MS = 2

let missed = 0
let deadline: AnswerDeadline
/** These are the numbers of the questions, in the order in which they were asked. */
let questions: number[] = []

beforeEach(() => {
  vi.useFakeTimers()
  missed = 0
  questions = []
  deadline = new AnswerDeadline(LIMIT_MS, () => {
    missed += 1
  })
})
afterEach(() => vi.useRealTimers())

function begin(): void {
  questions.push(deadline.begin())
}

function end(question: number): void {
  deadline.end(questions[question] ?? Number.NaN)
}

it('The deadline of answers is missed when one is late, and then once for all open questions', async () => {
  begin()
  begin()
  await vi.advanceTimersByTimeAsync(LIMIT_MS - 1)
  expect(missed).toBe(0)
  await vi.advanceTimersByTimeAsync(TIMER_AND_IMMEDIATE_MS)
  expect(missed).toBe(1)
  await vi.advanceTimersByTimeAsync(LIMIT_MS * 3)
  expect(missed).toBe(1)
})

it('The deadline of answers counts each from its own question, however busy the connection is', async () => {
  for (let i = 0; i < 10; i++) {
    begin()
    await vi.advanceTimersByTimeAsync(LIMIT_MS / 2)
    if (i > 0) end(i - 1)
  }
  expect(missed).toBe(0)
  await vi.advanceTimersByTimeAsync(LIMIT_MS / 2 - 1)
  expect(missed).toBe(0)
  await vi.advanceTimersByTimeAsync(TIMER_AND_IMMEDIATE_MS)
  expect(missed).toBe(1)
})

it('Questions from before a missed deadline do not count against questions after it', async () => {
  begin()
  await vi.advanceTimersByTimeAsync(LIMIT_MS + 1)
  begin()
  await vi.advanceTimersByTimeAsync(LIMIT_MS - 1)
  end(1)
  await vi.advanceTimersByTimeAsync(LIMIT_MS)
  expect(missed).toBe(1)
})

it('The deadline of answers is not missed by one that is read in the turn of the timer', () => {
  begin()
  vi.advanceTimersToNextTimer()
  end(0)
  vi.runAllTimers()
  expect(missed).toBe(0)
})
