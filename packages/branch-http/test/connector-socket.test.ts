import type { buildConnector } from 'undici'
import { describe, expect, it } from 'vitest'
import { assertConnectorGivesSocket } from '../src/connector-socket.ts'

describe("the self-test of undici's connector", () => {
  it('The self-test passes on the installed version of undici', () => {
    expect(() => assertConnectorGivesSocket()).not.toThrow()
  })

  it('The self-test names undici, its version and the connector when it gives no socket', () => {
    const build = (): buildConnector.connector => () => undefined
    expect(() => assertConnectorGivesSocket(build)).toThrow(
      /^undici \d+\.\d+\.\d+ cannot be used: .*`buildConnector`/,
    )
  })
})
