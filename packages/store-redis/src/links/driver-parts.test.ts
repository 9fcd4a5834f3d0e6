import { Socket } from 'node:net'
import { Redis } from 'ioredis'
import { describe, expect, it } from 'vitest'
import { assertDriverParts, assertWasWritten, TrackedCommand } from './driver-parts.ts'

const { sendCommand } = Redis.prototype

describe('the self-test of the parts of ioredis', () => {
  it('The self-test passes on the installed version of ioredis', () => {
    expect(() => assertDriverParts({ stream: new Socket(), sendCommand })).not.toThrow()
  })

  it('The self-test names the socket of a connection when it is missing', () => {
    expect(() => assertDriverParts({ stream: undefined, sendCommand })).toThrow(
      /^ioredis \d+\.\d+\.\d+ cannot be used: it has changed `stream`/,
    )
  })

  it('The self-test names the method that sends a command when it is missing', () => {
    expect(() => assertDriverParts({ stream: new Socket(), sendCommand: undefined })).toThrow(
      / `sendCommand`/,
    )
  })

  it('The self-test names the method that gives the bytes of a command when an answer came without it', () => {
    const command = new TrackedCommand('ping', [])
    expect(() => assertWasWritten(command)).toThrow(/^ioredis .* `toWritable`/)
    command.toWritable()
    expect(() => assertWasWritten(command)).not.toThrow()
  })
})
