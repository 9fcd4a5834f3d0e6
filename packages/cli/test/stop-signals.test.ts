import { EventEmitter } from 'node:events'
import { expect, it } from 'vitest'
import { onStopSignals } from '../src/stop-signals.ts'

function listening() {
  const source = new EventEmitter()
  const said: (string | number)[] = []
  onStopSignals(
    source,
    (signal) => said.push(signal),
    (code) => said.push(code),
  )
  return { source, said }
}

it('The first signal asks for a stop', () => {
  const { source, said } = listening()
  source.emit('SIGTERM')
  expect(said).toEqual(['SIGTERM'])
})

it('The second signal ends the process at once, with the code of that signal', () => {
  for (const [second, code] of [
    ['SIGINT', 130],
    ['SIGTERM', 143],
  ] as const) {
    const { source, said } = listening()
    source.emit('SIGINT')
    source.emit(second)
    expect(said).toEqual(['SIGINT', code])
  }
})
