import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import { type DtmFixture, openDtmFixture } from '../support/dtm-fixture.ts'
import { DEVIATIONS } from './deviations.ts'
import { listGoldenFiles, readGolden } from './golden-case.ts'
import { playCase } from './play-case.ts'

for (const file of listGoldenFiles()) {
  const subject = file.slice(0, -'.json'.length)
  const cases = readGolden(file)
  describe.concurrent(`${subject} as DTM`, () => {
    let shared: DtmFixture
    beforeAll(async () => {
      shared = await openDtmFixture()
    })
    afterAll(() => shared[Symbol.asyncDispose]())
    for (const golden of cases) {
      const deviation = DEVIATIONS[`${subject}: ${golden.name}`]
      const title =
        deviation === undefined
          ? `DTM's answer is given to ${subject}: ${golden.name}`
          : `The answer to ${subject} deviates from DTM's: ${golden.name} (${deviation.reason})`
      it(title, async () => {
        if (golden.emptyStore !== true) return await playCase(shared, golden, deviation)
        await using dtm = await openDtmFixture()
        await playCase(dtm, golden, deviation)
      })
    }
  })
}

it('The list of deviations names no case that does not exist', () => {
  const names = listGoldenFiles().flatMap((file) =>
    readGolden(file).map(({ name }) => `${file.slice(0, -'.json'.length)}: ${name}`),
  )
  expect(Object.keys(DEVIATIONS).filter((name) => !names.includes(name))).toEqual([])
})
