import { LibraryChangedError } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { assertAnswersCounted } from './answered-statements.ts'

describe('the self-test of the answers that are counted', () => {
  it('names mysql2, its version and the event when none came', () => {
    expect(() => assertAnswersCounted(0, 2)).toThrow(LibraryChangedError)
    expect(() => assertAnswersCounted(0, 2)).toThrow(
      /^mysql2 \d+\.\d+\.\d+ cannot be used: .*"fields".* 0 times/,
    )
  })

  it('passes when each statement was counted once', () => {
    expect(() => assertAnswersCounted(2, 2)).not.toThrow()
  })
})
