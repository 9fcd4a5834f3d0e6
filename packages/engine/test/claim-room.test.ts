import { describe, expect, it } from 'vitest'
import { ClaimRoom } from '../src/serverless/claim-room.ts'
import { FakeTime } from './support/fake-time.ts'
import { watched } from './support/sagas.ts'

const PLACES = 800
const UNREAD = 100

function open() {
  const time = new FakeTime()
  return { time, room: new ClaimRoom(time.clock(), PLACES) }
}

describe('the places of an invocation', () => {
  it('A row of unknown size takes an eighth of the places, and gives the rest back once it is known', async () => {
    const { room } = open()
    expect(room.unreadPlaces).toBe(UNREAD)
    expect(await room.enter(100)).toBe(8)
    const waiting = watched(room.enter(100))
    room.resize(1)
    await Promise.resolve()
    expect(waiting.isSettled).toBe(false)
    room.resize(1)
    await Promise.resolve()
    expect(waiting.value).toBe(1)
  })

  it('A row that is larger than all places is claimed alone, and others after it', async () => {
    const { room, time } = open()
    expect(await room.enter()).toBe(1)
    room.resize(2 * PLACES)
    const waiting = watched(room.enter())
    await time.advance(500)
    expect(waiting.isSettled).toBe(false)
    room.leave(2 * PLACES)
    await time.flush()
    expect(waiting.value).toBe(1)
  })

  it('Claims get their places in the order in which they came, and those that find none in a second get none', async () => {
    const { room, time } = open()
    expect(await room.enter(8)).toBe(8)
    const [first, second] = [watched(room.enter()), watched(room.enter())]
    await time.advance(500)
    room.leave(UNREAD)
    await time.flush()
    expect([first.value, second.isSettled]).toEqual([1, false])
    await time.advance(500)
    expect(second.value).toBe(0)
    room.leave(UNREAD)
    expect(await room.enter()).toBe(1)
  })

  it('When it is too late, those that wait get no place, and no other does', async () => {
    const { room, time } = open()
    expect(await room.enter(8)).toBe(8)
    const waiting = watched(room.enter())
    room.close()
    await time.flush()
    expect(waiting.value).toBe(0)
    room.leave(8 * UNREAD)
    expect(await room.enter()).toBe(0)
  })
})
