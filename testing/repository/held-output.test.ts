import { PassThrough } from 'node:stream'
import { expect, it } from 'vitest'
import { HeldOutput } from '../../scripts/held-output.mjs'

it('Held output is shown in its order when it is to be shown, and the rest at once', async () => {
  const target = new PassThrough()
  let shown = ''
  target.setEncoding('utf8').on('data', (text: string) => {
    shown += text
  })
  const held = new HeldOutput(target)
  // The text is longer than a stream's own buffer: the writer must never wait for its turn.
  const much = 'a'.repeat(200_000)
  await new Promise((resolve) => held.write(`first ${much}`, resolve))
  await new Promise((resolve) => held.write('second ', resolve))
  expect(shown).toBe('')

  held.show()
  held.write('third ')
  target.write('after')
  await expect.poll(() => shown).toBe(`first ${much}second third after`)
})
