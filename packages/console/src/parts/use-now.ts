import { useSyncExternalStore } from 'react'
import { readServerTime } from '../api/clock.ts'

const TICK_MS = 1_000
const listeners = new Set<() => void>()
let timer: ReturnType<typeof setInterval> | undefined
let now = readServerTime()

function tick(): void {
  now = readServerTime()
  for (const listener of listeners) listener()
}

function subscribe(listener: () => void): () => void {
  listeners.add(listener)
  timer ??= setInterval(tick, TICK_MS)
  return () => {
    listeners.delete(listener)
    if (listeners.size > 0) return
    clearInterval(timer)
    timer = undefined
  }
}

/** The server's time, once a second. All ages and countdowns on a page change together. */
export function useNow(): number {
  return useSyncExternalStore(subscribe, () => now)
}
