import { LibraryChangedError } from '@counterstep/protocol'
import { describe, expect, it } from 'vitest'
import { assertAnswersCounted } from './answered-statements.ts'

describe('the self-test of the answers that are counted', () => {
  it('The self-test names mysql2, its version and the event when no answer was counted', () => {
    expect(() => assertAnswersCounted(0, 2)).toThrow(LibraryChangedError)
    expect(() => assertAnswersCounted(0, 2)).toThrow(
      /^mysql2 \d+\.\d+\.\d+ cannot be used: .*"fields".* 0 times/,
    )
  })

  it('The self-test of counted answers passes when each statement was counted once', () => {
    expect(() => assertAnswersCounted(2, 2)).not.toThrow()
  })
})
