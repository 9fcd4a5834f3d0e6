import { describe, expect, it } from 'vitest'
import { UNLISTED_HEADER_BYTES_MAX, UNLISTED_IN_FLIGHT_MAX } from '../src/listed-origins.ts'
import { SharedPlaces, type Waiting } from '../src/shared-places.ts'
import { buildCall, serveBytes, serveHttp } from './hostile-server.ts'
import { testCaller } from './test-caller.ts'

describe('places that are shared', () => {
  it('The one that has waited longest goes on, and one that needs none passes its turn on', () => {
    const places = new SharedPlaces(2)
    const wentOn: string[] = []
    const create = (name: string, needs: boolean): Waiting => ({
      goOn() {
        if (needs && places.take(this, 0)) wentOn.push(name)
        if (!needs) wentOn.push(`${name} passes`)
      },
    })
    const [first, idle, last] = [create('first', true), create('idle', false), create('last', true)]
    expect([places.take(first, 0), places.take(last, 0)]).toEqual([true, true])
    for (const asker of [idle, last, first]) expect(places.take(asker, 0)).toBe(false)
    places.give()
    expect(wentOn).toEqual(['idle passes', 'last'])
    places.give()
    expect(wentOn).toEqual(['idle passes', 'last', 'first'])
    places.give()
    expect(places.take(last, 0)).toBe(true)
  })

  it('One that holds half of what the others leave gets no more, so that a newcomer always does', () => {
    const places = new SharedPlaces(512)
    const asker: Waiting = { goOn: () => undefined }
    const takeAll = () => {
      let held = 0
      while (places.take(asker, held)) held++
      return held
    }
    expect(Array.from({ length: 9 }, takeAll)).toEqual([256, 128, 64, 32, 16, 8, 4, 2, 1])
  })

  it('One that is forgotten is not told of a place', () => {
    const places = new SharedPlaces(1)
    const asker: Waiting = { goOn: () => expect.unreachable() }
    places.take(asker, 0)
    places.take(asker, 1)
    places.forget(asker)
    places.give()
  })
})

describe('origins that are not listed', () => {
  it('One that hangs takes half of their places, and neither another one nor a listed one waits for it', async () => {
    let release = (): void => undefined
    const released = new Promise<void>((resolve) => {
      release = resolve
    })
    const hanging = await serveHttp((_request, response) => void released.then(() => response.end('late')))
    const other = await serveHttp((_request, response) => response.end('ok'))
    const listed = await serveHttp((_request, response) => response.end('ok'))
    const caller = testCaller({
      connectionsPerOriginMax: UNLISTED_IN_FLIGHT_MAX,
      listedOrigins: [new URL(listed.url).origin],
    })
    const call = (url: string) => caller.call(buildCall(url, { timeoutMs: 30_000 }))
    const held = Array.from({ length: UNLISTED_IN_FLIGHT_MAX }, () => call(hanging.url))
    for (const { url } of [listed, other]) expect(await call(url)).toMatchObject({ result: 'success' })
    expect(hanging.countAccepted()).toBeLessThanOrEqual(UNLISTED_IN_FLIGHT_MAX / 2)
    release()
    expect((await Promise.all(held)).every(({ result }) => result === 'success')).toBe(true)
    await caller.close()
  }, 60_000)

  it('A head over 8 KiB is refused there, and taken from a listed origin', async () => {
    const head = `x-a: ${'a'.repeat(UNLISTED_HEADER_BYTES_MAX)}`
    const server = await serveBytes((socket) => {
      socket.write(`HTTP/1.1 200 OK\r\n${head}\r\ncontent-length: 2\r\n\r\nok`)
    })
    expect(await testCaller().call(buildCall(server.url))).toEqual({ result: 'unknown', error: 'too-large' })
    const caller = testCaller({ listedOrigins: [new URL(server.url).origin] })
    expect(await caller.call(buildCall(server.url))).toMatchObject({ result: 'success' })
  })
})
